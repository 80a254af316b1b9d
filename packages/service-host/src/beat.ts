const BEAT_MS = 1_000;
/** Timers may fire a little early, and must not fire again for the same beat. */
const EARLY_MS = 5;

/**
 * How long a poll waits that must come within `waitMs`, and 5 ms at most: usually until the last beat of the process before that, as polls at the
 * same time cost much less than one after the other, but at least half of `waitMs`. Waits of less than a second stay as they are.
 */
export function untilBeatMs(waitMs: number, nowMs = performance.now()): number {
  if (waitMs < BEAT_MS) return waitMs;
  const beatMs = Math.floor((nowMs + waitMs + EARLY_MS) / BEAT_MS) * BEAT_MS;
  return Math.max(beatMs - nowMs, waitMs / 2);
}
