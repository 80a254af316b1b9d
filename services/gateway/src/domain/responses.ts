import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { ErrorCode } from "./error-codes.ts";

/** A response of the tool API or of /session, ready to send. */
export interface ApiResponse {
  status: number;
  body: Buffer;
  /** For programs, in the header X-Error-Code; every response that is an error has one. */
  code?: ErrorCode;
  /** Headers in addition to those of every response. */
  headers?: Readonly<Record<string, string>>;
}

export interface Violation {
  field: string;
  rule: string;
  message: string;
}

export const RETRY_AFTER_HEADER = "retry-after";
export const REPLAYED_HEADER = "idempotency-replayed";

/** [ERR-3] [ERR-4] */
export const UNAUTHENTICATED: ApiResponse = {
  ...failure(401, "UNAUTHENTICATED", "Ungueltiger oder fehlender API-Key"),
  headers: { "www-authenticate": "Bearer" },
};
/** [ERR-11] [ERR-12] The same for every cause. */
export const TOOL_UNAVAILABLE = failure(403, "TOOL_UNAVAILABLE", "Tool nicht verfuegbar");
/** Of a page whose origin may not use MCP. */
export const ORIGIN_REFUSED = failure(403, "ORIGIN_REFUSED", "Origin nicht erlaubt");
/** [ERR-9] */
export const TOOL_FAILED = failure(400, "TOOL_FAILED", "Tool konnte nicht ausgefuehrt werden");
/** [ERR-18] */
export const INTERNAL_ERROR = failure(500, "INTERNAL", "Interner Fehler");
/** [ERR-18] Of an earlier call with the same Idempotency-Key. */
export const OUTCOME_UNKNOWN: ApiResponse = { ...INTERNAL_ERROR, code: "OUTCOME_UNKNOWN" };
/** The tools of a key have more to describe than one document may. */
export const DESCRIPTION_TOO_LARGE = failure(500, "DESCRIPTION_TOO_LARGE", "Beschreibung zu gross");
/** [ERR] */
export const METHOD_NOT_ALLOWED = failure(405, "METHOD_NOT_ALLOWED", "Methode nicht erlaubt");
/** To a client that begins with HTTP/2. */
export const HTTP_1_ONLY = failure(505, "BAD_REQUEST", "Nur HTTP/1.1");
export const NOT_FOUND = failure(404, "NOT_FOUND", "Nicht gefunden");
/** Also the response to bytes that are not an HTTP request. */
export const BAD_REQUEST = failure(400, "BAD_REQUEST", "Ungueltige Anfrage");
export const REQUEST_TIMEOUT = failure(408, "REQUEST_TIMEOUT", "Anfrage nicht rechtzeitig vollstaendig");
export const HEADERS_TOO_LARGE = failure(431, "HEADERS_TOO_LARGE", "Kopfzeilen zu gross");
export const IDEMPOTENCY_KEY_REUSED = failure(
  422,
  "IDEMPOTENCY_KEY_REUSED",
  "Idempotency-Key gehoert zu einem anderen Aufruf",
);
export const IDEMPOTENCY_KEY_IN_USE = failure(
  409,
  "IDEMPOTENCY_KEY_IN_USE",
  "Aufruf mit diesem Idempotency-Key laeuft noch",
);

export const LOGIN_REQUIRED = failure(401, "LOGIN_REQUIRED", "Anmeldung erforderlich");
export const LOGIN_REFUSED = failure(401, "LOGIN_REFUSED", "E-Mail oder Passwort falsch");
export const CSRF_TOKEN_MISSING = failure(403, "CSRF_TOKEN_MISSING", "CSRF-Token fehlt oder ist falsch");

/** A response that is an error; `members`: of its body, in addition to the text. */
export function failure(
  status: number,
  code: ErrorCode,
  error: string,
  members: Record<string, unknown> = {},
): ApiResponse {
  return { status, code, body: Buffer.from(JSON.stringify({ success: false, error, ...members })) };
}

export function success(status: number, members: Record<string, unknown>): ApiResponse {
  return { status, body: Buffer.from(JSON.stringify({ success: true, ...members })) };
}

/** A response after which the same request may succeed, after so many seconds. */
export function retriedAfter(response: ApiResponse, seconds: number | string): ApiResponse {
  return { ...response, headers: { ...response.headers, [RETRY_AFTER_HEADER]: String(seconds) } };
}

/** [ERR-1] [ERR-2] */
export function invalidParameters(violations: readonly Violation[]): ApiResponse {
  const details = violations.map(({ field, rule, message }) => ({ field, rule, message }));
  return failure(400, "INVALID_PARAMETERS", "Ungueltige Parameter", { details });
}

/** [ERR-15] [ERR-16] [LIMIT-8] */
export function limitReached(retryAfterSeconds: number): ApiResponse {
  const response = failure(429, "RATE_LIMITED", "Aufruflimit erreicht", { retry_after: retryAfterSeconds });
  return retriedAfter(response, retryAfterSeconds);
}

/** When a request that got no slot should be sent again. */
export const BUSY_RETRY_AFTER_S = 5;

/** The server has no slot for the request. Says nothing about the limit of the key. */
export const SERVER_BUSY = retriedAfter(
  failure(429, "SERVER_BUSY", "Server ausgelastet", { retry_after: BUSY_RETRY_AFTER_S }),
  BUSY_RETRY_AFTER_S,
);

/** Marks the response of an earlier call with the same Idempotency-Key. */
export function replayed(response: ApiResponse): ApiResponse {
  return { ...response, headers: { ...response.headers, [REPLAYED_HEADER]: "true" } };
}

/** [TOOL-11] */
export function toolResult(resultJson: Uint8Array): ApiResponse {
  return { status: 200, body: Buffer.from(resultJson.buffer, resultJson.byteOffset, resultJson.byteLength) };
}

/** `retryAfter`: seconds, from key-auth. */
export function tooManyLogins(retryAfter: string | null): ApiResponse {
  const response = failure(429, "TOO_MANY_LOGINS", "Zu viele Anmeldeversuche");
  return retryAfter === null ? response : retriedAfter(response, retryAfter);
}

const WINDOW_SECONDS = 60;
const POLICY = '"minute"';

/** The names of all header fields that show the limit. */
export const LIMIT_FIELDS = [
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "ratelimit-policy",
  "ratelimit",
] as const;

/** [LIMIT-7] Seconds until the next window: 1 to 60 even if this clock and that of key-auth differ. */
export function secondsUntilReset({ resetAt }: Pick<KeyVerdict, "resetAt">, nowMs: number): number {
  return Math.min(WINDOW_SECONDS, Math.max(1, Number(resetAt) - Math.floor(nowMs / 1000)));
}

/** [LIMIT-4] [LIMIT-5] [LIMIT-6] and the fields of draft-ietf-httpapi-ratelimit-headers-11. */
export function rateLimitFields(
  state: Pick<KeyVerdict, "limit" | "remaining" | "resetAt">,
  nowMs: number,
): Record<(typeof LIMIT_FIELDS)[number], string> {
  return {
    "x-ratelimit-limit": String(state.limit),
    "x-ratelimit-remaining": String(state.remaining),
    "x-ratelimit-reset": String(state.resetAt),
    "ratelimit-policy": `${POLICY};q=${state.limit};w=${WINDOW_SECONDS}`,
    ratelimit: `${POLICY};r=${state.remaining};t=${secondsUntilReset(state, nowMs)}`,
  };
}
