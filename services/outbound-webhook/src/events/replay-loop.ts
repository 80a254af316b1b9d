import type { Context } from "../context.ts";
import { stepReplay } from "../store/replay/steps.ts";

/** Finds replays that were started in another process. */
const POLL_MS = 2_000;
/** Pause while another replica works on the due replays. */
const BUSY_WAIT_MS = 20;
const FAILED_WAIT_MS = 1_000;

/** Takes the steps of replays as they fall due, one at a time, until the signal fires. */
export async function runReplays(context: Context, signal: AbortSignal): Promise<void> {
  const onError = context.onError("replay");
  while (!signal.aborted) {
    const waitMs = await stepOnce(context, onError).catch((error: unknown) => {
      onError(error);
      return FAILED_WAIT_MS;
    });
    if (waitMs > 0) await context.replayWakeUp.wait(waitMs, signal);
  }
}

/** Resolves with how long to wait. */
async function stepOnce(
  { queuePool, queue, announceWork, now }: Context,
  onError: (error: unknown) => void,
): Promise<number> {
  const { worked, nextAt, lockedWorkspace } = await stepReplay(queuePool, queue, now());
  if (lockedWorkspace) onError(new Error(`the queue of the workspace ${lockedWorkspace} is locked`));
  // Needed even when the step made no deliveries: a dispatcher may have skipped the workspace while it was locked.
  if (worked) announceWork();
  const untilNextMs = nextAt ? nextAt.getTime() - now().getTime() : Number.POSITIVE_INFINITY;
  return Math.min(Math.max(untilNextMs, worked ? 0 : BUSY_WAIT_MS), POLL_MS);
}
