import { pause } from "@toolgate/service-host/every";
import { untilAborted } from "./stopping.ts";

const FIRST_WAIT_MS = 200;
const MAX_WAIT_MS = 10_000;
const STEADY_AFTER_MS = 30_000;

/** A process that can be started again when it ends. */
type Restartable = {
  readonly name: string;
  exited(): Promise<string>;
  restart(): Promise<void>;
};

type RestartOptions = {
  readonly log: (line: string) => void;
  /** Ends the watch; the process may end after that. */
  readonly signal: AbortSignal;
};

/**
 * Starts `subject` again whenever it ends, until `signal`. The wait before a start doubles from 0.2 s to 10 s, and is
 * short again once it has run for 30 s.
 */
export async function keepRunning(subject: Restartable, { log, signal }: RestartOptions): Promise<void> {
  let waitMs = FIRST_WAIT_MS;
  while (!signal.aborted) {
    const since = performance.now();
    const how = await Promise.race([subject.exited(), untilAborted(signal)]);
    if (how === undefined || signal.aborted) return;
    if (performance.now() - since >= STEADY_AFTER_MS) waitMs = FIRST_WAIT_MS;
    log(`${subject.name} ended unexpectedly (${how}), starting it again in ${waitMs / 1000} s`);
    await pause(waitMs, signal);
    if (signal.aborted) return;
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
    await subject.restart().then(
      () => log(`${subject.name} runs again`),
      (error: unknown) => signal.aborted || log(`${subject.name} could not be started: ${(error as Error).message}`),
    );
  }
}
