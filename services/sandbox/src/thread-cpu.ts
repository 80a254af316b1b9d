import { readFileSync, readlinkSync } from "node:fs";

/** `after` returns what cancels it. */
interface Clock {
  nowMs(): number;
  after(ms: number, callback: () => void): () => void;
}
const REAL_CLOCK: Clock = {
  nowMs: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
const NS_PER_MS = 1_000_000;
/** A thread that gets hardly any CPU time is given up after this many times its limit. */
const WALL_FACTOR = 20;
const MIN_PAUSE_MS = 20;

/** The system's number of the calling thread; undefined where there is no /proc. */
export function ownThreadId(): string | undefined {
  try {
    return readlinkSync("/proc/thread-self").split("/").at(-1);
  } catch {
    return undefined;
  }
}

/** The CPU time that a thread of this process has used; undefined where there is no /proc, or no such thread. */
export function threadCpuMs(threadId: string | undefined): number | undefined {
  if (threadId === undefined) return undefined;
  try {
    return Number(readFileSync(`/proc/self/task/${threadId}/schedstat`, "ascii").split(" ")[0]) / NS_PER_MS;
  } catch {
    return undefined;
  }
}

/**
 * Calls back when a thread has used this much CPU time from now on, so that a busy machine does not count against it, or
 * after twenty times as long. Where CPU time is not known, time counts. Returns what stops it.
 */
export function afterCpuTime(
  limitMs: number,
  cpuMs: () => number | undefined,
  callback: () => void,
  { nowMs, after }: Clock = REAL_CLOCK,
): () => void {
  const begunMs = nowMs();
  const cpuMsBefore = cpuMs() ?? 0;
  const look = () => {
    const tookMs = nowMs() - begunMs;
    const cpuMsNow = cpuMs();
    const usedMs = cpuMsNow === undefined ? tookMs : cpuMsNow - cpuMsBefore;
    if (usedMs >= limitMs || tookMs >= limitMs * WALL_FACTOR) callback();
    else stop = after(Math.max(MIN_PAUSE_MS, limitMs - usedMs), look);
  };
  let stop = after(limitMs, look);
  return () => stop();
}
