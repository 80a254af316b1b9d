import type { PoolLimits } from "../limits.ts";
import type { SandboxOutcome, SandboxRequest } from "../request.ts";
import type { Child } from "./child.ts";
import { Counts } from "./counts.ts";
import { mayTakeOne, type Placement } from "./placement.ts";
import { Run, stopped } from "./run.ts";

const MAX_TIMES_LOST = 2;

/** Every run that has not ended, and the only place where a run changes its state. */
export class RunRegistry {
  readonly #runs = new Set<Run>();
  readonly #runsOfWorkspace = new Counts();
  readonly #placement: Placement;
  readonly #limits: PoolLimits;

  constructor(placement: Placement, limits: PoolLimits) {
    this.#placement = placement;
    this.#limits = limits;
  }

  get size(): number {
    return this.#runs.size;
  }

  /** How many are with a child. */
  get placed(): number {
    return [...this.#runs].filter((run) => run.state === "placed").length;
  }

  hasRoomFor(workspaceId: string): boolean {
    return mayTakeOne(this.#runsOfWorkspace.of(workspaceId), this.#runs.size, this.#limits.activeRuns);
  }

  /** A new run, waiting. */
  accept(request: SandboxRequest, now: number, finish: (outcome: SandboxOutcome) => void): void {
    const run = new Run(request, now + request.limits.wallMs, this.#limits.hostResultCharsPerRun, finish);
    this.#runs.add(run);
    this.#runsOfWorkspace.add(request.workspaceId, 1);
    this.#placement.add(run);
    if (request.signal === undefined) return;
    run.onAbort = () => this.stop(run, stopped("cancelled", "The caller left", run));
    request.signal.addEventListener("abort", run.onAbort, { once: true });
  }

  /** Waiting to placed. */
  place(run: Run, child: Child): void {
    run.state = "placed";
    run.child = child;
    run.ticket = child.start(run);
  }

  /** Placed to waiting: the child has not begun the run, so another may have it. */
  returnToWaiting(run: Run): void {
    if (run.state === "ended") return;
    run.state = "waiting";
    run.child = undefined;
    this.#placement.addFirst(run);
  }

  /** Its isolate or child ended through no fault of the run: waiting again if it had no effects, otherwise ended. */
  recover(run: Run): void {
    run.timesLost += 1;
    if (run.hostCalls === 0 && run.timesLost <= MAX_TIMES_LOST) this.returnToWaiting(run);
    else this.end(run, stopped("interrupted", "The run was cut off by a fault that was not its own", run));
  }

  end(run: Run, outcome: SandboxOutcome): void {
    if (run.state === "ended") return;
    run.state = "ended";
    this.#runs.delete(run);
    this.#runsOfWorkspace.add(run.request.workspaceId, -1);
    if (run.onAbort !== undefined) run.request.signal?.removeEventListener("abort", run.onAbort);
    run.results.end();
    run.hostCallsAbort?.abort();
    run.finish(outcome);
  }

  /** Ends a run from outside; its child drops it and confirms with `lost`. */
  stop(run: Run, outcome: SandboxOutcome): void {
    this.end(run, outcome);
    run.child?.cancel(run.ticket);
  }

  expire(now: number): void {
    for (const run of this.#runs) {
      if (run.deadline > now) continue;
      if (run.state === "placed") this.stop(run, stopped("timeout", "The run took too long", run));
      else this.end(run, stopped("overloaded", "The run's time ended before it began", run));
    }
  }

  endWaiting(reason: string): void {
    for (const run of this.#runs) if (run.state === "waiting") this.end(run, stopped("overloaded", reason, run));
  }

  endAll(): void {
    for (const run of this.#runs) this.end(run, stopped("interrupted", "The sandbox is closed", run));
  }
}
