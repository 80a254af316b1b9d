import type { ToolDescription } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { DescribeTools } from "../clients/tool-descriptions.ts";
import { TOOL_UNAVAILABLE } from "../domain/answers.ts";
import { baseUrlOf } from "../domain/base-url.ts";
import { toolDeclarations } from "../domain/declarations.ts";
import { entityTag, tagMatches } from "../domain/entity-tag.ts";
import { openApiDocument, withServer } from "../domain/openapi.ts";
import type { CachedDescription, DescriptionCache } from "./description-cache.ts";
import { keyOf } from "./key-state.ts";
import { onlyMethod } from "./only-method.ts";
import { sendAnswer } from "./reply.ts";
import type { ToolCallDependencies } from "./tool-call.ts";

export interface DescriptionDependencies {
  calls: ToolCallDependencies;
  describeTools: DescribeTools;
  descriptions: DescriptionCache;
  publicUrl: string;
}

interface Format {
  url: string;
  contentType: string;
  /** What is kept: the same at whatever address it was asked for. */
  write(tools: ToolDescription[]): string;
  addressed?(written: CachedDescription, baseUrl: string): CachedDescription;
}

export const OPENAPI_PATH = "/api/v1/openapi.json";
export const DECLARATIONS_PATH = "/api/v1/openapi.d.ts";

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

/** [OAPI-1] What a key may call, as OpenAPI and as TypeScript. Fetching it is no call: not counted, not logged. */
export function descriptionRoutes(deps: DescriptionDependencies) {
  return async (app: FastifyInstance): Promise<void> => {
    for (const format of FORMATS) {
      onlyMethod(app, deps.calls, {
        method: "GET",
        url: format.url,
        handler: (request, reply) => describe(deps, format, request, reply),
      });
    }
  };
}

async function describe(
  deps: DescriptionDependencies,
  format: Format,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const key = await keyOf(deps.calls, request, reply);
  if (!key) return reply;
  if (key.workspaceLocked) return sendAnswer(reply, TOOL_UNAVAILABLE);
  const written = await deps.descriptions.get(key, format.url, async () => format.write(await deps.describeTools(key)));
  const { body, tag } = format.addressed?.(written, baseUrlOf(deps.publicUrl, request)) ?? written;
  reply.headers({ "cache-control": "private, no-store", etag: tag });
  if (tagMatches(request.headers["if-none-match"], tag)) return reply.code(304).send();
  return reply.header("content-type", format.contentType).send(body);
}
