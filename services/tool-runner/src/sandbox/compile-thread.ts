// A thread that checks and compiles handlers; started by `compiler.ts`.
import { readlinkSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { compileHandler } from "./compile.ts";

try {
  // On Linux this lowers the priority of the thread alone.
  setPriority(Number(readlinkSync("/proc/thread-self").split("/").at(-1)), constants.priority.PRIORITY_BELOW_NORMAL);
} catch {
  // Elsewhere it keeps the priority of the process.
}
parentPort?.on("message", (source: string) => parentPort?.postMessage(compileHandler(source)));
