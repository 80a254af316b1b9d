// The program of a thread that checks and compiles handlers; see `compiler.ts`.
import { readlinkSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { compileHandler } from "./compile.ts";

// On Linux this lowers the priority of the thread alone, so that it does not hold up the service.
if (process.platform === "linux") {
  setPriority(Number(readlinkSync("/proc/thread-self").split("/").at(-1)), constants.priority.PRIORITY_BELOW_NORMAL);
}
parentPort?.postMessage("up");
parentPort?.on("message", (source: string) => parentPort?.postMessage(compileHandler(source)));
