import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { promisify } from "node:util";
import { monotonicMs, startBenchProcess } from "./child-process.ts";
import type { PauseReply, PauseRequest } from "./pause-watcher.ts";

/** Sees when the machine itself stands still, as virtual machines do: nothing on it can be measured then. */
export type PauseWatch = AsyncDisposable & {
  /** Measures, and says for which share of that time a processor paused: the one that paused the most. */
  during<T extends object>(measure: () => Promise<T>): Promise<T & Paused>;
};

/** Pauses of less than 12 ms do not count, and where none can be seen the share is 0. */
export type Paused = { pausedShare: number };

/** How often a window was measured again because the machine paused. */
export type MeasuredAgain = { again: number };

const PRIORITY = 50;
const MAX_AGAIN = 3;
/** Pauses for less than this hit too few calls to decide what their p99 is. */
const MAX_PAUSED_SHARE = 0.005;
const run = promisify(execFile);

/**
 * A process for each processor looks at the clock every 4 ms. With real-time priority it never waits for another process, so
 * what it misses is a pause. Where that priority is not allowed, there are no such processes.
 */
export async function startPauseWatch(signal: AbortSignal): Promise<PauseWatch> {
  await using resources = new AsyncDisposableStack();
  const start = async (_: unknown, processor: number) => {
    const entry = new URL("./pause-watcher.ts", import.meta.url);
    const watcher = resources.use(await startBenchProcess<object, PauseRequest, PauseReply>(entry, { signal }));
    await run("taskset", ["--cpu-list", "--pid", String(processor), String(watcher.pid)]);
    await run("chrt", ["--fifo", "--pid", String(PRIORITY), String(watcher.pid)]);
    return watcher;
  };
  const started = await Promise.allSettled(Array.from({ length: availableParallelism() }, start));
  const watchers = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  if (watchers.length < started.length)
    return {
      during: async (measure) => ({ ...(await measure()), pausedShare: 0 }),
      [Symbol.asyncDispose]: async () => {},
    };
  const owned = resources.move();
  return {
    async during(measure) {
      const sinceMs = monotonicMs();
      const measured = await measure();
      const tookMs = monotonicMs() - sinceMs;
      const replies = await Promise.all(watchers.map((watcher) => watcher.ask({ sinceMs })));
      return { ...measured, pausedShare: Math.max(...replies.map(({ pausedMs }) => pausedMs)) / tookMs };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Measures a window again, at most three times, when the machine itself paused for more than 0.5 % of it. */
export async function withoutPauses<T extends Paused>(
  log: (line: string) => void,
  measure: () => Promise<T>,
): Promise<T & MeasuredAgain> {
  for (let again = 0; ; again += 1) {
    const window = await measure();
    if (window.pausedShare <= MAX_PAUSED_SHARE || again === MAX_AGAIN) return { ...window, again };
    log(`the machine paused for ${(window.pausedShare * 100).toFixed(1)} % of a window: measuring again`);
  }
}
