import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { promisify } from "node:util";
import { monotonicMs, startBenchProcess } from "./child-process.ts";
import type { PauseReply, PauseRequest } from "./pause-watcher.ts";

/** Sees when the machine itself stands still, as virtual machines do: nothing on it can be measured then. */
export type PauseWatch = AsyncDisposable & {
  /** The longest pause of a processor since then (by `monotonicMs`), in ms. 0 below 12 ms, and where none can be seen. */
  longestSince(sinceMs: number): Promise<number>;
};

/** How often a window was measured again because the machine paused. */
export type MeasuredAgain = { again: number };

const PRIORITY = 50;
const MAX_AGAIN = 3;
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
  if (watchers.length < started.length) return { longestSince: async () => 0, [Symbol.asyncDispose]: async () => {} };
  const owned = resources.move();
  return {
    async longestSince(sinceMs) {
      const replies = await Promise.all(watchers.map((watcher) => watcher.ask({ sinceMs })));
      return Math.max(...replies.map(({ longestMs }) => longestMs));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Measures a window again, at most three times, when the machine itself paused meanwhile. */
export async function withoutPauses<T extends object>(
  { pauses, log }: { pauses: PauseWatch; log: (line: string) => void },
  measure: () => Promise<T>,
): Promise<T & MeasuredAgain> {
  for (let again = 0; ; again += 1) {
    const fromMs = monotonicMs();
    const window = await measure();
    const longestMs = await pauses.longestSince(fromMs);
    if (longestMs === 0 || again === MAX_AGAIN) return { ...window, again };
    log(`the machine paused for ${longestMs.toFixed(0)} ms: measuring again`);
  }
}
