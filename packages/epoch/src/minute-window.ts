export const SECONDS_PER_MINUTE = 60;

/** [LIMIT-2] A clock minute, from second :00 to :59 in UTC. */
interface MinuteWindow {
  /** Minutes since 1970. */
  minute: number;
  /** [LIMIT-6] Unix time in seconds at which the window ends. */
  resetAt: number;
}

/** The minute of a time in milliseconds since 1970. */
export function minuteWindow(nowMs: number): MinuteWindow {
  const minute = Math.floor(nowMs / 1000 / SECONDS_PER_MINUTE);
  return { minute, resetAt: (minute + 1) * SECONDS_PER_MINUTE };
}

/** Seconds until the end of a minute, rounded up: 1 to 60 even if it is the end of another clock's minute. */
export function secondsUntil(resetAt: number, nowMs: number): number {
  return Math.min(SECONDS_PER_MINUTE, Math.max(1, Math.ceil(resetAt - nowMs / 1000)));
}
