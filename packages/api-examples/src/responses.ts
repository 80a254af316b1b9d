/** A kind of response to a call, in words. */
export interface Outcome {
  status: number;
  /** The `error` of its body; only a result has none. */
  error?: string;
  about: string;
}

/** [BLD-24] [ERR-1..18] Every kind of response to a call with a complete request, in the order of their statuses. */
export const OUTCOMES: readonly Outcome[] = [
  { status: 200, about: "What the tool returned. Its success may be false." },
  { status: 400, error: "Ungueltige Parameter", about: "The arguments are not valid; details lists what is wrong." },
  { status: 400, error: "Tool konnte nicht ausgefuehrt werden", about: "The tool failed." },
  {
    status: 401,
    error: "Ungueltiger oder fehlender API-Key",
    about: "The key is missing, unknown, revoked or expired, or not allowed from this address.",
  },
  {
    status: 403,
    error: "Tool nicht verfuegbar",
    about: "The tool is not available to this key. The response does not say why.",
  },
  { status: 405, error: "Methode nicht erlaubt", about: "The method is not POST." },
  {
    status: 409,
    error: "Aufruf mit diesem Idempotency-Key laeuft noch",
    about: "The first call with this Idempotency-Key is still running.",
  },
  {
    status: 422,
    error: "Idempotency-Key gehoert zu einem anderen Aufruf",
    about: "This Idempotency-Key was used with another body.",
  },
  {
    status: 429,
    error: "Aufruflimit erreicht",
    about: "The calls of this minute are used up; retry_after has the seconds to wait.",
  },
  { status: 429, error: "Server ausgelastet", about: "The server is busy; retry_after has the seconds to wait." },
  { status: 500, error: "Interner Fehler", about: "An unexpected error." },
];

/** What a status means: all its outcomes. */
export function aboutStatus(status: number): string {
  return OUTCOMES.filter((outcome) => outcome.status === status)
    .map(({ about }) => about)
    .join(" ");
}

/** [BLD-25] [LIMIT-3] The headers with the state of a key's limit: on every response to a call with a valid key. */
export const LIMIT_HEADERS = {
  "X-RateLimit-Limit": "Calls per clock minute.",
  "X-RateLimit-Remaining": "Calls left in this minute.",
  "X-RateLimit-Reset": "Unix time at which the minute ends.",
  RateLimit: "The state of the limit as the IETF draft writes it.",
  "RateLimit-Policy": "The limit as the IETF draft writes it.",
} as const;

/** [LIMIT-7] [LIMIT-9] On 429 alone. */
export const RETRY_AFTER = "Seconds until the next call may succeed.";
