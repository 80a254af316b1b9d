import { startChild, untilReady } from "@toolgate/local-servers/child";
import { openLog, readTail } from "@toolgate/local-servers/log-file";
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
  const log = await openLog(logFile);
  const { fd } = log.handle;
  // It ends with this process, however this one ends.
  const child = startChild("setpriv", ["--pdeathsig", "TERM", programFile(name), ...args], {
    stdio: ["ignore", fd, fd],
  });
  const check = () => ready().catch(() => false);
  const failure = await untilReady(child, check, { deadlineMs: READY_DEADLINE_MS }).finally(() => log.handle.close());
  if (failure === undefined) return { [Symbol.asyncDispose]: () => child.end("SIGTERM", STOP_GRACE_MS) };
  await child.end("SIGKILL", STOP_GRACE_MS);
  throw new Error(
    `${name} did not start (${failure}); the end of ${logFile}:\n${await readTail(logFile, log.startBytes)}`,
  );
}
