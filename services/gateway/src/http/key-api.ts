import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type KeyVerdict, VerifyRequestSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { canonicalIp } from "@toolgate/ip-address/ip-address";
import { hashSecret } from "@toolgate/rules/api-key-secret";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { CallContext } from "../context.ts";
import { tagMatches } from "../domain/entity-tag.ts";
import { ERROR_CODE_HEADER } from "../domain/error-codes.ts";
import { apiKeyOf } from "../domain/request-headers.ts";
import { type ApiResponse, LIMIT_FIELDS, rateLimitFields, UNAUTHENTICATED } from "../domain/responses.ts";

/** For a request that is not a call. */
const UNCOUNTED = { tool: "", count: false };

export function sendResponse(reply: FastifyReply, { status, code, body, headers = {} }: ApiResponse): FastifyReply {
  if (code !== undefined) reply.header(ERROR_CODE_HEADER, code);
  return reply.code(status).headers(headers).header("content-type", "application/json; charset=utf-8").send(body);
}

/** Sends a document, or 304 if the client already has this version. */
export function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, tag, type, cacheControl }: { body: Buffer; tag: string; type: string; cacheControl: string },
): FastifyReply {
  reply.headers({ "cache-control": cacheControl, etag: tag });
  if (tagMatches(request.headers["if-none-match"], tag)) return reply.code(304).send();
  return reply.header("content-type", `${type}; charset=utf-8`).send(body);
}

/** [LIMIT-3] Headers of every response to a valid key. */
export function setLimitHeaders(reply: FastifyReply, key: KeyVerdict, nowMs: number): void {
  reply.headers(rateLimitFields(key, nowMs));
}

/** Removes the headers of a key that stopped being valid after they were set. */
export function dropLimitHeaders(reply: FastifyReply): void {
  for (const name of LIMIT_FIELDS) reply.removeHeader(name);
}

/**
 * The key of a request that is not a call: it is neither counted nor logged, and the response carries the state of the
 * limit. Undefined when a 401 has been sent.
 */
export async function keyOf(
  context: CallContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<KeyVerdict | undefined> {
  const key = await verifyKey(context, request, UNCOUNTED);
  if (key) setLimitHeaders(reply, key, context.now());
  else sendResponse(reply, UNAUTHENTICATED);
  return key;
}

/** [ERR-13] [ERR-14] A 405 says nothing about the key. With a valid one it has the limit's headers; it is not counted. */
export async function showLimit(context: CallContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const key = await verifyKey(context, request, UNCOUNTED).catch((error: unknown) => {
    context.log.warn({ err: error }, "key not looked up");
    return undefined;
  });
  if (key) setLimitHeaders(reply, key, context.now());
}

/**
 * Undefined: the key is missing or not valid, may not be used from this address, or the client disconnected before its
 * address was read, which Node has forgotten then. `tool` is empty when none is called; then the verdict lists the tools of
 * the key.
 */
export async function verifyKey(
  { verify }: CallContext,
  { headers, ip }: Pick<FastifyRequest, "headers" | "ip">,
  { tool, count }: { tool: string; count: boolean },
): Promise<KeyVerdict | undefined> {
  const secret = apiKeyOf(headers.authorization);
  if (secret === undefined || ip === undefined) return undefined;
  const request = create(VerifyRequestSchema, {
    secretHash: hashSecret(secret),
    tool,
    count,
    clientIp: canonicalIp(ip),
  });
  const { key } = await verify(request).catch((error: unknown) => {
    // The replica is down; another one gives the same verdict. At worst the call is counted twice.
    if (error instanceof ConnectError && error.code === Code.Unavailable) return verify(request);
    throw error;
  });
  return key;
}
