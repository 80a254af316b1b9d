import { setTimeout as sleep } from "node:timers/promises";

const DEFAULT_DEADLINE_MS = 120_000;
const DEFAULT_EVERY_MS = 20;

/** How long to wait for a condition, and how often to check it. */
export type Patience = { readonly deadlineMs?: number; readonly everyMs?: number };

/** Nothing at all, or never undefined: what is not there yet would end the waiting. */
// biome-ignore lint/suspicious/noConfusingVoidType: what a check without a result returns.
type Sure<T> = [T] extends [void] ? T : undefined extends T ? never : T;

/**
 * Calls `check` until it neither throws nor returns `false`, and returns its result. After the deadline (120 s) the last
 * error is thrown, or one that says that the condition stayed false. `check` may contain expectations.
 */
export async function eventually<T>(
  check: () => Sure<T> | false | Promise<Sure<T> | false>,
  patience: Patience = {},
): Promise<T> {
  const { deadlineMs = DEFAULT_DEADLINE_MS, everyMs = DEFAULT_EVERY_MS } = patience;
  const end = performance.now() + deadlineMs;
  for (;;) {
    let failure: unknown = new Error(`the condition was still false after ${deadlineMs} ms`);
    try {
      const result = await check();
      if (result !== false) return result;
    } catch (error) {
      failure = error;
    }
    if (performance.now() >= end) throw failure;
    await sleep(everyMs);
  }
}
