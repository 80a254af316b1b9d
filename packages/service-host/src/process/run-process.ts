import { createLogger, type Logger } from "./logger.ts";

const END_WITHIN_MS = 1_000;

/**
 * Runs `work` as this process, until `stopped` resolves with the name of the signal. `openLog` makes its logger, which also
 * logs crashes. When `work` rejects, one fatal line has the reason and the exit code is 1. Ends within a second of its last
 * line even when something is still open, such as a connection that could not be made.
 */
export async function runProcess(
  name: string,
  work: (stopped: Promise<string>, openLog: (level: string) => Logger) => Promise<void>,
): Promise<void> {
  const stopped = untilStopSignal();
  let log = createLogger({ service: name, level: "info" });
  try {
    await work(stopped, (level) => {
      log = createLogger({ service: name, level });
      process.on("uncaughtExceptionMonitor", (error) => log.fatal({ err: error }, "crashed"));
      return log;
    });
  } catch (error) {
    log.fatal({ err: error }, "failed");
    process.exitCode = 1;
  }
  log.info("stopped");
  // Unref: a process with nothing left to do must not wait for it. The logger flushes when the process ends.
  setTimeout(() => process.exit(), END_WITHIN_MS).unref();
}

/**
 * Resolves with the first SIGTERM or SIGINT. The listeners are not removed: a terminal and npm may send a signal twice, and the second must not cut the drain
 * short.
 */
function untilStopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve(signal));
  });
}
