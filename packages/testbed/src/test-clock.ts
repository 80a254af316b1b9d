import { setImmediate as eventLoopTurn } from "node:timers/promises";

/** What code that waits takes as its clock. */
export interface TestClock {
  nowMs(): number;
  after(ms: number, callback: () => void): () => void;
  pass(ms: number): Promise<void>;
}

/** Time passes only in `pass`. */
export function testClock(): TestClock {
  let nowMs = 0;
  const timers = new Set<{ atMs: number; callback: () => void }>();
  return {
    nowMs: () => nowMs,
    after(ms, callback) {
      const timer = { atMs: nowMs + ms, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async pass(ms) {
      const untilMs = nowMs + ms;
      for (;;) {
        const [next] = [...timers].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs);
        if (!next) break;
        timers.delete(next);
        nowMs = next.atMs;
        next.callback();
        await eventLoopTurn();
      }
      nowMs = untilMs;
    },
  };
}
