import { hasInexactNumber } from "@toolgate/rules/json-numbers";
import { isDeeperThan, isJsonObject } from "@toolgate/rules/json-object";
import { type ErrorCode, errorCodeOfStatus } from "../../domain/error-codes.ts";
import { jsonValue } from "../../domain/json-values.ts";
import type { ApiResponse, Violation } from "../../domain/responses.ts";

/** How deeply arguments may be nested, as in tool-runner, and results that are sent as JSON. */
export const MAX_JSON_LEVELS = 64;
const TOO_DEEP: Violation = {
  field: "",
  rule: "depth",
  message: `args must not be nested more than ${MAX_JSON_LEVELS} levels deep`,
};
const INEXACT_NUMBER: Violation = {
  field: "",
  rule: "number",
  message: "a number has more digits than JSON numbers keep, or is too large: send it as a string",
};

const OF_JSON_RPC: ReadonlyMap<number, ErrorCode> = new Map([
  [-32_700, "PARSE_ERROR"],
  [-32_600, "INVALID_REQUEST"],
  [-32_601, "METHOD_NOT_FOUND"],
  [-32_602, "INVALID_PARAMETERS"],
  [-32_603, "INTERNAL"],
]);

const PARSE_ERROR = failure(400, -32_700, "Parse error");
const NO_BATCHES = failure(400, -32_600, "One message per request");
const NESTED_TOO_DEEPLY = failure(400, -32_600, `Nested more than ${MAX_JSON_LEVELS} levels deep`);
export const NOT_ACCEPTABLE = failure(406, -32_000, "Not Acceptable: the client must accept application/json");

/** What the SDK demands of every request, although it is only one of the two that it uses. */
export const FORWARDED_ACCEPT = "application/json, text/event-stream";

interface ReadMessage {
  message?: unknown;
  /** Why the arguments of its call cannot be used; they are left out of `message`. */
  fault?: Violation;
  /** The response to a body that is not one message. */
  refusal?: ApiResponse;
}

/** Reads the body of a request. What is nested very deeply must not reach code that calls itself for each level. */
export function readMessage(body: Uint8Array): ReadMessage {
  const message = jsonValue(body);
  if (message === undefined) return { refusal: PARSE_ERROR };
  if (Array.isArray(message)) return { refusal: NO_BATCHES };
  const params = isToolCall(message) && isJsonObject(message.params) ? message.params : {};
  const usable = isToolCall(message) ? { ...message, params: { ...params, arguments: {} } } : message;
  if (isDeeperThan(usable, MAX_JSON_LEVELS)) return { refusal: NESTED_TOO_DEEPLY };
  if (isDeeperThan(params.arguments, MAX_JSON_LEVELS)) return { message: usable, fault: TOO_DEEP };
  const isInexact = isToolCall(message) && hasInexactNumber(new TextDecoder().decode(body));
  return isInexact ? { message: usable, fault: INEXACT_NUMBER } : { message };
}

export function isToolCall(message: unknown): message is { params?: unknown } {
  return isJsonObject(message) && message.method === "tools/call";
}

/** Whether a client takes JSON. One that names no type takes any. */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === "") return true;
  const types = accept.split(",").map((range) => range.split(";", 1)[0]?.trim().toLowerCase());
  return types.some((type) => type === "application/json" || type === "application/*" || type === "*/*");
}

/** The beginning of a result as the SDK writes it, which may be megabytes long. */
const RESULT = Buffer.from('{"result":');
const EVENT = /^data: ?(.*)$/m;

/** A response without the frame of an event stream, in which the SDK puts the responses of the older protocol. */
export function plainJson(body: Buffer, type: string | null): Buffer {
  if (!type?.startsWith("text/event-stream")) return body;
  return Buffer.from(EVENT.exec(body.toString("utf8"))?.[1] ?? "");
}

function failure(status: number, code: number, message: string): ApiResponse {
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } });
  return { status, code: OF_JSON_RPC.get(code) ?? errorCodeOfStatus(status), body: Buffer.from(body) };
}

/** The code of an error that the SDK has responded with; undefined for anything else. */
export function errorCodeIn(body: Buffer, status: number): ErrorCode | undefined {
  const message = body.subarray(0, RESULT.length).equals(RESULT) ? undefined : jsonValue(body);
  const error = isJsonObject(message) ? message.error : undefined;
  if (isJsonObject(error)) return OF_JSON_RPC.get(Number(error.code)) ?? errorCodeOfStatus(Math.max(status, 400));
  return status < 400 ? undefined : errorCodeOfStatus(status);
}
