import type { FastifyReply, FastifyRequest } from "fastify";
import { sendResponse } from "../key-api.ts";
import { allowedMethod, unroutedResponse } from "../paths.ts";
import type { ChatContext } from "./context.ts";

const HEADERS = "authorization, content-type, idempotency-key, last-event-id";
const EXPOSED = "x-request-id, x-error-code, retry-after";
const MAX_AGE_SECONDS = "600";

/**
 * [CHAT] Lets pages of other origins read the response, if the workspace allows theirs. Before the workspace is known, any
 * workspace's list counts, because a page must be able to read why it was refused. Cookies never count for other origins.
 */
export async function allowOrigin(
  { origins }: ChatContext,
  request: FastifyRequest,
  reply: FastifyReply,
  workspaceId: string,
): Promise<boolean> {
  const { origin } = request.headers;
  if (origin === undefined || !(await origins(origin, workspaceId))) return false;
  reply.headers({ "access-control-allow-origin": origin, "access-control-expose-headers": EXPOSED });
  return true;
}

/** A browser's preflight request, which asks whether a page may call. */
export async function preflight(
  context: ChatContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const url = request.raw.url ?? "";
  const isPreflight = request.headers["access-control-request-method"] !== undefined;
  if (!isPreflight || !(await allowOrigin(context, request, reply, "")))
    return sendResponse(reply, unroutedResponse(url));
  reply.headers({
    "access-control-allow-methods": allowedMethod(url),
    "access-control-allow-headers": HEADERS,
    "access-control-max-age": MAX_AGE_SECONDS,
  });
  return reply.code(204).send();
}
