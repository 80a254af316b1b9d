// The program of a thread that checks and compiles handlers; see `compile-thread.ts`.
import { constants, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { compileHandler } from "./compile.ts";
import type { FromThread } from "./compile-thread.ts";
import { ownThreadId } from "./thread-cpu.ts";

const threadId = ownThreadId();
// On Linux this lowers the priority of the thread alone. Elsewhere it keeps the priority of the process.
if (threadId !== undefined) setPriority(Number(threadId), constants.priority.PRIORITY_BELOW_NORMAL);
const send = (message: FromThread) => parentPort?.postMessage(message);
send({ threadId });
parentPort?.on("message", (source: string) => send({ result: compileHandler(source) }));
