import type { ToolDescription } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Context } from "../../context.ts";
import { baseUrlOf } from "../../domain/addresses.ts";
import { toolDeclarations } from "../../domain/descriptions/declarations.ts";
import { openApiDocument, withServer } from "../../domain/descriptions/openapi.ts";
import { entityTag, tagMatches } from "../../domain/entity-tag.ts";
import { TOOL_UNAVAILABLE } from "../../domain/responses.ts";
import { keyOf, onlyMethod, sendResponse } from "../key-api.ts";
import { DECLARATIONS_PATH, OPENAPI_PATH } from "../paths.ts";
import type { CachedDescription } from "./description-cache.ts";

interface Format {
  url: string;
  contentType: string;
  /** The part that is cached: the same for every address. */
  write(tools: ToolDescription[]): string;
  addressed?(written: CachedDescription, baseUrl: string): CachedDescription;
}

const FORMATS: readonly Format[] = [
  {
    url: OPENAPI_PATH,
    contentType: "application/json; charset=utf-8",
    write: (tools) => JSON.stringify(openApiDocument(tools)),
    addressed: ({ body, tag }, baseUrl) => ({
      body: withServer(body, baseUrl),
      tag: entityTag(Buffer.from(`${tag} ${baseUrl}`)),
    }),
  },
  {
    url: DECLARATIONS_PATH,
    contentType: "application/typescript; charset=utf-8",
    write: (tools) => toolDeclarations(tools),
  },
];

/** [OAPI-1] The tools that a key may call, as OpenAPI and as TypeScript. Fetching them is neither counted nor logged. */
export function descriptionRoutes(context: Context) {
  return async (app: FastifyInstance): Promise<void> => {
    for (const format of FORMATS) {
      onlyMethod(app, context, {
        method: "GET",
        url: format.url,
        handler: (request, reply) => describe(context, format, request, reply),
      });
    }
  };
}

async function describe(
  context: Context,
  format: Format,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { describeTools, descriptions, publicUrl } = context;
  const key = await keyOf(context, request, reply);
  if (!key) return reply;
  if (key.workspaceLocked) return sendResponse(reply, TOOL_UNAVAILABLE);
  const written = await descriptions.get(key, format.url, async () => format.write(await describeTools(key)));
  const { body, tag } = format.addressed?.(written, baseUrlOf(publicUrl, request)) ?? written;
  reply.headers({ "cache-control": "private, no-store", etag: tag });
  if (tagMatches(request.headers["if-none-match"], tag)) return reply.code(304).send();
  return reply.header("content-type", format.contentType).send(body);
}
