const WINDOW_SECONDS = 60;
const POLICY = '"minute"';

interface LimitState {
  /** Calls per minute. */
  limit: number;
  remaining: number;
  /** Unix time in seconds at which the minute ends. */
  resetAt: bigint;
}

/** The names of all header fields that show the limit. */
export const LIMIT_FIELDS = [
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "ratelimit-policy",
  "ratelimit",
] as const;

/** [LIMIT-7] Seconds until the next window: 1 to 60 even if this clock and that of key-auth differ. */
export function secondsUntilReset({ resetAt }: Pick<LimitState, "resetAt">, nowMs: number): number {
  return Math.min(WINDOW_SECONDS, Math.max(1, Number(resetAt) - Math.floor(nowMs / 1000)));
}

/** [LIMIT-4] [LIMIT-5] [LIMIT-6] and the fields of draft-ietf-httpapi-ratelimit-headers-11. */
export function rateLimitFields(state: LimitState, nowMs: number): Record<(typeof LIMIT_FIELDS)[number], string> {
  return {
    "x-ratelimit-limit": String(state.limit),
    "x-ratelimit-remaining": String(state.remaining),
    "x-ratelimit-reset": String(state.resetAt),
    "ratelimit-policy": `${POLICY};q=${state.limit};w=${WINDOW_SECONDS}`,
    ratelimit: `${POLICY};r=${state.remaining};t=${secondsUntilReset(state, nowMs)}`,
  };
}
