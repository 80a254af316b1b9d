import { errorCodeOf } from "../error-codes.ts";
import { type ApiResponse, BUSY_RETRY_AFTER_S, retriedAfter } from "../responses.ts";

/** [CHAT-48] [CHAT-49] [CHAT-50] [CHAT-51] Codes of the gateway's own; others come from chat. */
type OwnCode =
  | "INVALID_PARAMETERS"
  | "UNAUTHENTICATED"
  | "FORBIDDEN"
  | "WORKSPACE_LOCKED"
  | "METHOD_NOT_ALLOWED"
  | "RATE_LIMITED"
  | "INTERNAL";

/** [CHAT-52] [CHAT-53] [CHAT-54] */
export function chatError(status: number, code: string, message: string): ApiResponse {
  return { status, code: errorCodeOf(code), body: Buffer.from(JSON.stringify({ error: { code, message } })) };
}

function own(status: number, code: OwnCode, message: string): ApiResponse {
  return chatError(status, code, message);
}

export const CHAT_UNAUTHENTICATED: ApiResponse = {
  ...own(401, "UNAUTHENTICATED", "sign in first"),
  headers: { "www-authenticate": "Bearer" },
};
/** The same for a workspace that does not exist. */
export const CHAT_FORBIDDEN = own(403, "FORBIDDEN", "no access to this workspace");
export const CHAT_OF_ANOTHER_USER = own(403, "FORBIDDEN", "no access to this chat");
export const CHAT_NOT_SAME_ORIGIN = own(
  403,
  "FORBIDDEN",
  "a request with the session cookie must come from a page of this server, with X-CSRF-Token unless it only reads",
);
export const CHAT_WORKSPACE_LOCKED = own(403, "WORKSPACE_LOCKED", "this workspace is locked");
export const CHAT_METHOD_NOT_ALLOWED = own(405, "METHOD_NOT_ALLOWED", "method not allowed");
export const CHAT_INTERNAL = own(500, "INTERNAL", "internal error, please try again");

/** Too many answers are awaited at the same time. */
export const CHAT_RATE_LIMITED = retriedAfter(
  own(429, "RATE_LIMITED", "too many open streams and waiting messages, please try again later"),
  BUSY_RETRY_AFTER_S,
);

/** Nothing of the form was read. */
export const TOO_MANY_UPLOADS = retriedAfter(
  own(429, "RATE_LIMITED", "too many uploads at the same time, please try again later"),
  BUSY_RETRY_AFTER_S,
);

/** [CHAT-51] The answer of a turn that failed. A workspace without tokens is a refusal, not a failure of ours. */
export function failedAnswer(code: string, message: string): ApiResponse {
  return chatError(code === "BUDGET_EXCEEDED" ? 429 : 500, code, message);
}

export function invalidChatRequest(message: string): ApiResponse {
  return own(400, "INVALID_PARAMETERS", message);
}

export function chatResult(members: Record<string, unknown>): ApiResponse {
  return { status: 200, body: Buffer.from(JSON.stringify(members)) };
}
