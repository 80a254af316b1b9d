import { type ActiveRun, stopped } from "./active-run.ts";
import type { ActiveRuns } from "./active-runs.ts";
import type { SandboxOutcome } from "./outcome.ts";

/** A run whose child was lost before the host heard from it has had no effect, and may be begun again so often. */
const MAX_RESTARTS = 2;

/** The four things that can happen to a run under way. */
export type RunFates = {
  settle: (run: ActiveRun, outcome: SandboxOutcome) => void;
  /** Ends a run from outside; its child is told to forget it and confirms with `lost`. */
  stop: (run: ActiveRun, outcome: SandboxOutcome) => void;
  /** It was not begun: another child may have it. */
  replace: (run: ActiveRun) => void;
  /** Its isolate or process is gone through no fault of its own. */
  recover: (run: ActiveRun) => void;
};

export function createRunFates(active: Pick<ActiveRuns, "delete">, placeAgain: (run: ActiveRun) => void): RunFates {
  const settle = (run: ActiveRun, outcome: SandboxOutcome) => {
    if (run.settled) return;
    run.settled = true;
    active.delete(run);
    run.answers.end();
    run.hostCallsOver?.abort();
    run.finish(outcome);
  };
  const stop = (run: ActiveRun, outcome: SandboxOutcome) => {
    settle(run, outcome);
    if (run.child !== undefined && !run.child.ended) run.child.abandon(run.ticket);
  };
  const replace = (run: ActiveRun) => {
    run.child = undefined;
    if (!run.settled) placeAgain(run);
  };
  const recover = (run: ActiveRun) => {
    run.restarts += 1;
    if (run.hostCalls === 0 && run.restarts <= MAX_RESTARTS) replace(run);
    else settle(run, stopped("interrupted", "The run was cut off by a fault that was not its own", run));
  };
  return { settle, stop, replace, recover };
}
