/**
 * Every value of the header X-Error-Code, with the statuses that it comes with and what it means. A code never changes its
 * meaning, while the texts in bodies are for people. The list in docs/callers.md is compared with this one by a test.
 */
export const ERROR_CODES = {
  INVALID_PARAMETERS: ["400", "the arguments or parameters are not valid; the body says which"],
  TOOL_FAILED: ["400, 500", "the tool failed; in a chat (500), a tool of the assistant"],
  BAD_REQUEST: ["400, 505", "the request cannot be read; 505: it is not HTTP/1.1"],
  UNAUTHENTICATED: ["401", "the key, login or signature is missing or not valid"],
  TOOL_UNAVAILABLE: ["403", "the tool is not available to this key, or the workspace is locked"],
  ORIGIN_REFUSED: ["403", "`/mcp`: the page's origin is not allowed"],
  NOT_FOUND: ["404", "there is nothing at this path, or no such object"],
  METHOD_NOT_ALLOWED: ["405", "the path takes another method, see `Allow`"],
  NOT_ACCEPTABLE: ["406", "`/mcp`: `Accept` does not include `application/json`"],
  REQUEST_TIMEOUT: ["408", "the request was not complete in time"],
  IDEMPOTENCY_KEY_IN_USE: ["409", "the first call with this `Idempotency-Key` is still running"],
  UNSUPPORTED_MEDIA_TYPE: ["415", "`Content-Type` must be `application/json`"],
  IDEMPOTENCY_KEY_REUSED: ["422", "this `Idempotency-Key` was used with another body"],
  RATE_LIMITED: ["429", "the limit is reached; wait for `Retry-After` seconds"],
  SERVER_BUSY: ["429", "the server is busy; wait for `Retry-After` seconds"],
  HEADERS_TOO_LARGE: ["431", "the headers are too large"],
  INTERNAL: ["500", "an unexpected error; try again"],
  OUTCOME_UNKNOWN: [
    "500",
    "the call was made, but its outcome was lost; this `Idempotency-Key` will not make it again",
  ],
  DESCRIPTION_TOO_LARGE: ["500", "the description of the key's tools is too large; its tools can be called"],
  PARSE_ERROR: ["400", "`/mcp`: the body is not JSON in UTF-8"],
  INVALID_REQUEST: ["400", "`/mcp`: the body is not one JSON-RPC message"],
  METHOD_NOT_FOUND: ["404", "`/mcp`: the JSON-RPC method does not exist"],
  LOOP_DETECTED: ["508", "hooks: the call would trigger itself"],
  BODY_TOO_LARGE: ["413", "hooks: the body is too large"],
  HOOK_UNAVAILABLE: ["403", "hooks: the hook takes no calls"],
  TRY_AGAIN: ["503", "hooks: the call may not have been stored; send it again"],
  FORBIDDEN: ["403", "chats: no access to this workspace or chat"],
  WORKSPACE_LOCKED: ["403", "chats: the workspace is locked"],
  CHAT_BUSY: ["400", "chats: the earlier messages took too long"],
  CHAT_RESET: ["500", "chats: the chat was reset before the answer was complete"],
  INVALID_FILE: ["400", "chats: the file cannot be used"],
  FILE_TOO_LARGE: ["400", "chats: the file is too large"],
  TOO_MANY_FILES: ["400", "chats: too many files"],
  NO_ASSISTANT: ["400", "chats: there is no such assistant"],
  NOT_RELEASED: ["400", "chats: the assistant is not released for this"],
  BUDGET_EXCEEDED: ["429", "chats: the workspace has used its tokens for today"],
  MODEL_FAILED: ["500", "chats: the model did not answer"],
  LOGIN_REQUIRED: ["401", "`/session`: sign in first"],
  LOGIN_REFUSED: ["401", "`/session`: the email or password is wrong"],
  CSRF_TOKEN_MISSING: ["403", "`/session`: `X-CSRF-Token` is missing or wrong"],
  TOO_MANY_LOGINS: ["429", "`/session`: too many failed logins"],
  CANCELED: ["499", "management: the request was cancelled"],
  UNKNOWN: ["500", "management: an unknown error"],
  INVALID_ARGUMENT: ["400", "management: a field is not valid; the message names it"],
  DEADLINE_EXCEEDED: ["504", "management: no response in time"],
  ALREADY_EXISTS: ["409", "management: it exists already"],
  PERMISSION_DENIED: ["403", "management: your role does not permit this, or the CSRF token is missing"],
  RESOURCE_EXHAUSTED: ["429", "management: there are as many as there may be, or too many requests"],
  FAILED_PRECONDITION: ["400", "management: not in this state"],
  ABORTED: ["409", "management: the change must be confirmed, or was made by someone else meanwhile"],
  OUT_OF_RANGE: ["400", "management: beyond the end"],
  UNIMPLEMENTED: ["404, 405, 501", "management: there is no such RPC, or not with this method"],
  UNAVAILABLE: ["503", "management: try again"],
  DATA_LOSS: ["500", "management: data is damaged"],
} as const satisfies Record<string, readonly [statuses: string, meaning: string]>;

export type ErrorCode = keyof typeof ERROR_CODES;

export const ERROR_CODE_HEADER = "x-error-code";

/** A code as a service names it; a newer service may name one that this gateway does not know. */
export function errorCodeOf(name: string): ErrorCode {
  return Object.hasOwn(ERROR_CODES, name) ? (name as ErrorCode) : "INTERNAL";
}

const OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: "UNAUTHENTICATED",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  406: "NOT_ACCEPTABLE",
  408: "REQUEST_TIMEOUT",
  413: "BODY_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
  429: "RATE_LIMITED",
};

/** For a response that a library has made. */
export function errorCodeOfStatus(status: number): ErrorCode {
  return OF_STATUS[status] ?? (status < 500 ? "BAD_REQUEST" : "INTERNAL");
}
