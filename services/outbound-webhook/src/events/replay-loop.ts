import type { Context } from "../context.ts";
import { stepReplay } from "../store/replay/steps.ts";

interface ReplayLoopOptions extends Pick<Context, "queuePool" | "queue" | "replayWakeUp" | "announceWork" | "now"> {
  signal: AbortSignal;
  onError: (error: unknown) => void;
}

/** Finds replays that were started in another process. */
const POLL_MS = 2_000;
/** Pause while another replica works on the due replays. */
const BUSY_WAIT_MS = 20;
const FAILED_WAIT_MS = 1_000;

/** Takes the steps of replays as they fall due, one at a time, until the signal fires. */
export async function runReplays(options: ReplayLoopOptions): Promise<void> {
  const { replayWakeUp, signal, onError } = options;
  while (!signal.aborted) {
    const waitMs = await stepOnce(options).catch((error: unknown) => {
      onError(error);
      return FAILED_WAIT_MS;
    });
    if (waitMs > 0) await replayWakeUp.wait(waitMs, signal);
  }
}

/** Resolves with how long to wait. */
async function stepOnce({ queuePool, queue, announceWork, now }: ReplayLoopOptions): Promise<number> {
  const { worked, nextAt } = await stepReplay(queuePool, queue, now());
  // Needed even when the step made no deliveries: a dispatcher may have skipped the workspace while it was locked.
  if (worked) announceWork();
  const untilNextMs = nextAt ? nextAt.getTime() - now().getTime() : Number.POSITIVE_INFINITY;
  return Math.min(Math.max(untilNextMs, worked ? 0 : BUSY_WAIT_MS), POLL_MS);
}
