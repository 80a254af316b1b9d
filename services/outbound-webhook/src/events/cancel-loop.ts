import { isLockTimeout } from "@toolgate/postgres/data-error";
import { pause } from "@toolgate/service-host/every";
import type { Context } from "../context.ts";
import { cancelSome, nextToCancel } from "../store/deliveries/cancel-waiting.ts";

/** Finds what a process left that has crashed. */
const POLL_MS = 30_000;
/** Between two transactions, so that results can lock the workspace. */
const PAUSE_MS = 50;
const FAILED_WAIT_MS = 1_000;

/**
 * Cancels the deliveries that wait for endpoints which were deactivated or deleted, until the signal fires: one
 * transaction at a time, of each workspace in turn.
 */
export async function runCancellations(context: Context, signal: AbortSignal): Promise<void> {
  const { queuePool, cancelWakeUp, announceWork, now } = context;
  const onError = context.onError("cancellation of waiting deliveries");
  let servedWorkspaceId = "";
  while (!signal.aborted) {
    try {
      const next = await nextToCancel(queuePool, servedWorkspaceId);
      if (next) {
        servedWorkspaceId = next.workspaceId;
        await cancelSome(queuePool, next, now());
        // A dispatcher skips a workspace while it is locked.
        announceWork();
        await pause(PAUSE_MS, signal);
      } else await cancelWakeUp.wait(POLL_MS, signal);
    } catch (error) {
      const isLocked = isLockTimeout(error);
      if (!isLocked) onError(error);
      await pause(isLocked ? PAUSE_MS : FAILED_WAIT_MS, signal);
    }
  }
}
