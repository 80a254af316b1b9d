import { startLogged } from "@toolgate/local-servers/child";
import { type Program, programFile } from "./programs.ts";

// The first start on a busy machine creates many objects.
const READY_DEADLINE_MS = 120_000;
const STOP_GRACE_MS = 10_000;

/** Starts a program and waits until it is ready. */
export async function startProgram(
  name: Program,
  args: readonly string[],
  { logFile, ready }: { logFile: string; ready: () => Promise<boolean> },
): Promise<AsyncDisposable> {
  // It ends with this process, however this one ends.
  const child = await startLogged({
    name,
    command: "setpriv",
    args: ["--pdeathsig", "TERM", programFile(name), ...args],
    logFile,
    ready,
    deadlineMs: READY_DEADLINE_MS,
  });
  return { [Symbol.asyncDispose]: () => child.end("SIGTERM", STOP_GRACE_MS) };
}
