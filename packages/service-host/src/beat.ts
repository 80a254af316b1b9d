const BEAT_MS = 1_000;
/** Timers may fire a little early, and must not fire again for the same beat. */
const EARLY_MS = 5;

/**
 * How long a poll waits that should come after `waitMs`. The polls of a process come together, at the beats of its clock,
 * because that costs much less than one after the other. So the wait ends at the last beat before `waitMs` is over, or up
 * to 5 ms after it, but lasts at least half of `waitMs`. A wait of less than a second is returned as it is.
 */
export function untilBeatMs(waitMs: number, nowMs = performance.now()): number {
  if (waitMs < BEAT_MS) return waitMs;
  const beatMs = Math.floor((nowMs + waitMs + EARLY_MS) / BEAT_MS) * BEAT_MS;
  return Math.max(beatMs - nowMs, waitMs / 2);
}
