import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Context } from "../../context.ts";
import { baseUrlOf } from "../../domain/addresses.ts";
import { toolDeclarations } from "../../domain/descriptions/declarations.ts";
import { openApiDocument, withServer } from "../../domain/descriptions/openapi.ts";
import { entityTag } from "../../domain/entity-tag.ts";
import { DESCRIPTION_TOO_LARGE, SERVER_BUSY, TOOL_UNAVAILABLE } from "../../domain/responses.ts";
import { keyOf, sendDocument, sendResponse } from "../key-api.ts";
import { DECLARATIONS_PATH, OPENAPI_PATH } from "../paths.ts";
import { takeSlot } from "../slots.ts";
import type { WriteDescription } from "./description-cache.ts";

interface Format {
  url: string;
  type: string;
  /** The part that is cached: the same for every address. */
  write: WriteDescription;
  /** Adds the address, if the document has one. */
  address?(body: Buffer, baseUrl: string): Buffer;
}

const FORMATS: readonly Format[] = [
  {
    url: OPENAPI_PATH,
    type: "application/json",
    write: ({ tools, about }) => JSON.stringify(openApiDocument(tools, about)),
    address: withServer,
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
  { url, type, write, address }: Format,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const key = await keyOf(context, request, reply);
  if (!key) return reply;
  if (key.workspaceLocked) return sendResponse(reply, TOOL_UNAVAILABLE);
  using slot = await takeSlot(context.slots.descriptions, key.workspaceId, reply.raw);
  if (!slot) return sendResponse(reply, SERVER_BUSY);
  const made = await context.descriptions(key, url, write);
  if (made === "too large") return sendResponse(reply, DESCRIPTION_TOO_LARGE);
  const baseUrl = baseUrlOf(context.publicUrl, request);
  const tag = address ? entityTag(Buffer.from(`${made.tag} ${baseUrl}`)) : made.tag;
  const body = address?.(made.body, baseUrl) ?? made.body;
  return sendDocument(request, reply, { body, tag, type, cacheControl: "private, no-store" });
}
