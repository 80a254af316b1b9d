import { ReplayStepFailed, type ReplayStepStore } from "../store/replay/step.ts";
import type { WakeUp } from "./wake-up.ts";

export interface ReplayLoopOptions {
  store: Pick<ReplayStepStore, "step" | "putOff">;
  /** Rung when a replay was started or cancelled in this process. */
  wakeUp: WakeUp;
  announceWork: () => void;
  now: () => Date;
  signal: AbortSignal;
  onError: (error: unknown) => void;
}

/** Replays that were started in another process are found by this poll. */
const POLL_MS = 2_000;
/** Between two looks while somebody else works at what is due. */
const BUSY_WAIT_MS = 20;
const FAILED_WAIT_MS = 1_000;
/** A replay whose step fails is not in the way of the others meanwhile. */
const PUT_OFF_MS = 10_000;

/** Makes the deliveries of replays, a step at a time as they fall due, until the signal fires. */
export async function runReplays(options: ReplayLoopOptions): Promise<void> {
  const { wakeUp, signal, onError } = options;
  while (!signal.aborted) {
    const waitMs = await stepOnce(options).catch(async (error: unknown) => {
      onError(error);
      if (error instanceof ReplayStepFailed) {
        const until = new Date(options.now().getTime() + PUT_OFF_MS);
        await options.store.putOff(error.replayId, until).catch(onError);
      }
      return FAILED_WAIT_MS;
    });
    if (waitMs > 0) await wakeUp.wait(waitMs, signal);
  }
}

/** Resolves with how long there is nothing to do. */
async function stepOnce({ store, announceWork, now }: ReplayLoopOptions): Promise<number> {
  const { worked, locked, nextAt } = await store.step(now());
  // Not only when there is something new: a dispatcher that came by meanwhile has left the workspace out.
  if (locked) announceWork();
  const untilNextMs = nextAt ? nextAt.getTime() - now().getTime() : POLL_MS;
  return Math.min(Math.max(untilNextMs, worked ? 0 : BUSY_WAIT_MS), POLL_MS);
}
