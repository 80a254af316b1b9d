import { setTimeout as delay } from "node:timers/promises";

const DEADLINE_MS = 10_000;
const STEP_MS = 5;

/** Waits for a condition, and fails when it does not come true in 10 s. */
export async function until(condition: () => boolean): Promise<void> {
  const endMs = performance.now() + DEADLINE_MS;
  while (!condition()) {
    if (performance.now() > endMs) throw new Error(`not within ${DEADLINE_MS} ms: ${condition}`);
    await delay(STEP_MS);
  }
}
