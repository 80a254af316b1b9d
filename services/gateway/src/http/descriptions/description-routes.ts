import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Described } from "../../clients/tool-descriptions.ts";
import type { Context } from "../../context.ts";
import { baseUrlOf } from "../../domain/addresses.ts";
import { toolDeclarations } from "../../domain/descriptions/declarations.ts";
import { openApiDocument, withServer } from "../../domain/descriptions/openapi.ts";
import { entityTag } from "../../domain/entity-tag.ts";
import { TOOL_UNAVAILABLE } from "../../domain/responses.ts";
import { keyOf, sendDocument, sendResponse } from "../key-api.ts";
import { DECLARATIONS_PATH, OPENAPI_PATH } from "../paths.ts";
import { refusalOfTurn, WEIGHTS } from "../workspace-turns.ts";
import type { CachedDescription } from "./description-cache.ts";

interface Format {
  url: string;
  type: string;
  /** The part that is cached: the same for every address. */
  write(described: Described): string;
  addressed?(written: CachedDescription, baseUrl: string): CachedDescription;
}

const FORMATS: readonly Format[] = [
  {
    url: OPENAPI_PATH,
    type: "application/json",
    write: ({ tools, about }) => JSON.stringify(openApiDocument(tools, about)),
    addressed: ({ body, tag }, baseUrl) => ({
      body: withServer(body, baseUrl),
      tag: entityTag(Buffer.from(`${tag} ${baseUrl}`)),
    }),
  },
  {
    url: DECLARATIONS_PATH,
    type: "application/typescript",
    write: ({ tools }) => toolDeclarations(tools),
  },
];

/** [OAPI-1] The tools that a key may call, as OpenAPI and as TypeScript. Fetching them is neither counted nor logged. */
export function descriptionRoutes(context: Context) {
  return async (app: FastifyInstance): Promise<void> => {
    for (const format of FORMATS) {
      app.get(format.url, (request, reply) => describe(context, format, request, reply));
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
  const refusal = await refusalOfTurn(context.turns.calls, key.workspaceId, request, reply, WEIGHTS.description);
  if (refusal) return sendResponse(reply, refusal);
  const written = await descriptions.get(key, format.url, async () => format.write(await describeTools(key)));
  const { body, tag } = format.addressed?.(written, baseUrlOf(publicUrl, request)) ?? written;
  return sendDocument(request, reply, { body, tag, type: format.type, cacheControl: "private, no-store" });
}
