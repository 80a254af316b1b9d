import { Code, ConnectError } from "@connectrpc/connect";
import { isJsonObject } from "@toolgate/rules/json-object";
import type { FastifyRequest } from "fastify";
import { ParameterReader } from "../../domain/chat/parameters.ts";
import { jsonValue } from "../../domain/json-values.ts";
import { IDEMPOTENCY_KEY_HEADER, readIdempotencyKey } from "../../domain/request-headers.ts";
import { MAX_BYTES_READ_FIRST, readBytes, saysAtMost } from "../request-bytes.ts";
import type { ChatContext } from "./context.ts";
import { repeated } from "./upstream.ts";

const MAX_JSON_BYTES = 512 * 1024;
const JSON_TYPE = /^application\/json *(;|$)/i;

export function queryParameters(request: FastifyRequest): ParameterReader {
  return new ParameterReader(request.query as Record<string, unknown>, { isText: true });
}

/** The user of a login, before the workspace is known; undefined when it is not valid. */
export async function userOf(
  { sessions }: ChatContext,
  token: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return (await repeated(() => sessions.getSession({ token }), signal)).userId;
  } catch (error) {
    if (ConnectError.from(error).code === Code.Unauthenticated) return undefined;
    throw error;
  }
}

/** [CHAT-3] Undefined: the login is not valid. It is checked before a large body is read. */
export async function jsonParameters(
  context: ChatContext,
  request: FastifyRequest,
  token: string,
  signal: AbortSignal,
): Promise<ParameterReader | undefined> {
  const isSmall = saysAtMost(request, MAX_BYTES_READ_FIRST);
  if (!isSmall && (await userOf(context, token, signal)) === undefined) return undefined;
  const { bytes, fault } = await readBytes(request.raw, MAX_JSON_BYTES);
  const body = jsonValue(bytes);
  const reader = new ParameterReader(isJsonObject(body) ? body : {}, { isText: false });
  if (!JSON_TYPE.test(request.bodyType)) reader.check("Content-Type: must be application/json");
  if (fault === "too-large") reader.check(`body: larger than ${MAX_JSON_BYTES} bytes`);
  if (!isJsonObject(body)) reader.check("body: must be a JSON object");
  // [CHAT-11] A file needs a form.
  if (reader.has("file")) reader.check("file: must be sent as multipart/form-data");
  return reader;
}

/** The Idempotency-Key header, which does the same as client_message_id. */
export function idempotencyKeyOf(request: FastifyRequest, reader: ParameterReader): string {
  const { key, violation } = readIdempotencyKey(request.headers[IDEMPOTENCY_KEY_HEADER]);
  if (violation) reader.check(`Idempotency-Key: ${violation.message}`);
  return key;
}

/** [CHAT-19] What a browser sends when it connects again. */
export function lastEventIdOf({ headers }: FastifyRequest): string | undefined {
  const value = headers["last-event-id"];
  return typeof value === "string" ? value : undefined;
}
