export const SECONDS_PER_MINUTE = 60;

/** [LIMIT-2] A clock minute, from second :00 to :59 in UTC. */
interface MinuteWindow {
  /** Minutes since 1970. */
  minute: number;
  /** [LIMIT-6] Unix time in seconds at which the window ends. */
  resetAt: number;
}

export function minuteWindow(nowMs: number): MinuteWindow {
  const minute = Math.floor(nowMs / 1000 / SECONDS_PER_MINUTE);
  return { minute, resetAt: (minute + 1) * SECONDS_PER_MINUTE };
}
