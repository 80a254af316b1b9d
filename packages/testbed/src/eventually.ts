import { setTimeout as sleep } from "node:timers/promises";

const DEFAULT_DEADLINE_MS = 20_000;
const DEFAULT_EVERY_MS = 20;

/** How long to wait for a condition, and how often to ask. */
export type Patience = { readonly deadlineMs?: number; readonly everyMs?: number };

/**
 * Asks `check` until it neither throws nor answers `false`, and answers what it answered. After the deadline (20 s)
 * the last error is thrown, or one that says that the condition stayed false. Write expectations into `check`.
 */
export async function eventually<T>(check: () => T | false | Promise<T | false>, patience: Patience = {}): Promise<T> {
  const { deadlineMs = DEFAULT_DEADLINE_MS, everyMs = DEFAULT_EVERY_MS } = patience;
  const end = performance.now() + deadlineMs;
  for (;;) {
    let failure: unknown = new Error(`the condition was still false after ${deadlineMs} ms`);
    try {
      const answer = await check();
      if (answer !== false) return answer;
    } catch (error) {
      failure = error;
    }
    if (performance.now() >= end) throw failure;
    await sleep(everyMs);
  }
}
