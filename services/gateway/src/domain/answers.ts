/** An answer of the tool API, ready to send. */
export interface Answer {
  status: number;
  body: Buffer;
  /** Beside those of every answer. */
  headers?: Readonly<Record<string, string>>;
}

function failure(status: number, members: Record<string, unknown>): Answer {
  return { status, body: Buffer.from(JSON.stringify({ success: false, ...members })) };
}

/** [ERR-3] [ERR-4] */
export const UNAUTHENTICATED: Answer = {
  ...failure(401, { error: "Ungueltiger oder fehlender API-Key" }),
  headers: { "www-authenticate": "Bearer" },
};
/** [ERR-11] [ERR-12] The one refusal: it says nothing about its cause. */
export const TOOL_UNAVAILABLE = failure(403, { error: "Tool nicht verfuegbar" });
/** [ERR-9] */
export const TOOL_FAILED = failure(400, { error: "Tool konnte nicht ausgefuehrt werden" });
/** [ERR-18] */
export const INTERNAL_ERROR = failure(500, { error: "Interner Fehler" });
/** [ERR] */
export const METHOD_NOT_ALLOWED = failure(405, { error: "Methode nicht erlaubt" });
export const NOT_FOUND = failure(404, { error: "Nicht gefunden" });
/** What is no HTTP request, before it can be anything else. */
export const BAD_REQUEST = failure(400, { error: "Ungueltige Anfrage" });
export const REQUEST_TIMEOUT = failure(408, { error: "Anfrage nicht rechtzeitig vollstaendig" });
export const HEADERS_TOO_LARGE = failure(431, { error: "Kopfzeilen zu gross" });

export interface Violation {
  field: string;
  rule: string;
  message: string;
}

/** [ERR-1] [ERR-2] */
export function invalidParameters(violations: Violation[]): Answer {
  const details = violations.map(({ field, rule, message }) => ({ field, rule, message }));
  return failure(400, { error: "Ungueltige Parameter", details });
}

/** [ERR-15] [ERR-16] [LIMIT-8] */
export function limitReached(retryAfterSeconds: number): Answer {
  const body = { error: "Aufruflimit erreicht", retry_after: retryAfterSeconds };
  return { ...failure(429, body), headers: { "retry-after": String(retryAfterSeconds) } };
}

export const IDEMPOTENCY_KEY_REUSED = failure(422, { error: "Idempotency-Key gehoert zu einem anderen Aufruf" });
export const IDEMPOTENCY_KEY_IN_USE = failure(409, { error: "Aufruf mit diesem Idempotency-Key laeuft noch" });

/** The answer of an earlier call with the same Idempotency-Key, marked as such. */
export function replayed(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, "idempotency-replayed": "true" } };
}

/** [TOOL-11] */
export function toolResult(resultJson: Uint8Array): Answer {
  return { status: 200, body: Buffer.from(resultJson.buffer, resultJson.byteOffset, resultJson.byteLength) };
}
