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
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly nowMs?: () => number;
};

/**
 * Starts `subject` again whenever it ends, until `signal`. The wait before a start doubles from 0.2 s to 10 s, and is
 * short again once it has run for 30 s.
 */
export async function keepRunning(subject: Restartable, options: RestartOptions): Promise<void> {
  const { log, signal, wait = pause, nowMs = () => performance.now() } = options;
  let waitMs = FIRST_WAIT_MS;
  while (!signal.aborted) {
    const since = nowMs();
    const how = await Promise.race([subject.exited(), untilAborted(signal)]);
    if (how === undefined || signal.aborted) return;
    if (nowMs() - since >= STEADY_AFTER_MS) waitMs = FIRST_WAIT_MS;
    log(`${subject.name} ended unexpectedly (${how}), starting it again in ${waitMs / 1000} s`);
    await wait(waitMs, signal);
    if (signal.aborted) return;
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
    await subject.restart().then(
      () => log(`${subject.name} runs again`),
      (error: unknown) => signal.aborted || log(`${subject.name} could not be started: ${(error as Error).message}`),
    );
  }
}
