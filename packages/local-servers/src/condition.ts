import { setTimeout as sleep } from "node:timers/promises";

export type Patience = { readonly deadlineMs: number; readonly everyMs: number };

/** Asks until the answer is not `undefined`; answers `undefined` when the deadline passes first. */
export async function until<T>(ask: () => Promise<T | undefined> | T | undefined, patience: Patience) {
  const end = performance.now() + patience.deadlineMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || performance.now() >= end) return answer;
    await sleep(patience.everyMs);
  }
}
