import { spawn } from "node:child_process";
import { pathOf } from "../isolation/detect.ts";
import { SLICE_SETTER } from "./child-files.ts";
import { threadsOf } from "./priority.ts";

/** The longest that Linux knows. */
const LONG_SLICE_NS = 100_000_000;
/** The number of the system call `sched_setattr`. */
const SCHED_SETATTR: Readonly<Record<string, number>> = { x64: 314, arm64: 274 };

/**
 * Makes the threads of a process give way at once to any other that wakes up, and not only when their slices end, after
 * 3 ms on two processors: since 6.12, Linux lets a process with a shorter slice interrupt one with a longer slice. Their
 * share of the processors stays the same. Older kernels ignore it, and a process that has ended is no error. The nice
 * value must be the one that the threads have, because the system call sets both.
 */
export function giveWay(pid: number, priority: number): void {
  const number = SCHED_SETATTR[process.arch];
  if (process.platform !== "linux" || number === undefined) return;
  const numbers = [number, priority, LONG_SLICE_NS, ...threadsOf(pid)].map(String);
  spawn(pathOf("perl"), [SLICE_SETTER, ...numbers], { env: {}, cwd: "/", stdio: "ignore" })
    // There is no Perl.
    .on("error", () => {})
    .unref();
}
