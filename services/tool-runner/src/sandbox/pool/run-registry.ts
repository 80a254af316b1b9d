import { Counts } from "../../domain/counts.ts";
import type { PoolLimits } from "../limits.ts";
import type { ProcessEnd } from "../processes/engine-process.ts";
import type { FailureKind, FromChild } from "../protocol/messages.ts";
import type { SandboxOutcome, SandboxRequest } from "../request.ts";
import type { Child } from "./child.ts";
import type { Children } from "./children.ts";
import type { CpuUsage } from "./cpu-usage.ts";
import { serveHostCall } from "./host-calls.ts";
import { shownLine } from "./log-line.ts";
import { hasShareLeft, type Placement } from "./placement.ts";
import { SandboxRun, stopped } from "./run.ts";

const MAX_TIMES_LOST = 2;
const CPU_LIMIT_EXCEEDED = "The tool exceeded its CPU limit";
/** How often the time that a run is given to begin doubles. */
const MAX_PATIENCE = 4;
/** How the engine ends a process after a fatal error, nearly always because memory ran out. */
const ENGINE_SIGNALS: ReadonlySet<string> = new Set(["SIGABRT", "SIGTRAP", "SIGILL", "SIGSEGV", "SIGBUS"]);

/** Every run that has not ended, and the only place where a run changes its state. */
export class RunRegistry {
  readonly #runs = new Set<SandboxRun>();
  readonly #runsOfWorkspace = new Counts();
  readonly #placement: Placement;
  readonly #usage: CpuUsage;
  readonly #limits: PoolLimits;
  readonly #onHarm: (workspaceId: string, reason: string) => void;

  constructor(
    placement: Placement,
    usage: CpuUsage,
    limits: PoolLimits,
    onHarm: (workspaceId: string, reason: string) => void,
  ) {
    this.#placement = placement;
    this.#usage = usage;
    this.#limits = limits;
    this.#onHarm = onHarm;
  }

  get size(): number {
    return this.#runs.size;
  }

  /** How many are with a child. */
  get placed(): number {
    return [...this.#runs].filter((run) => run.state === "placed").length;
  }

  hasRoomFor(workspaceId: string): boolean {
    return hasShareLeft(this.#runsOfWorkspace.of(workspaceId), this.#runs.size, this.#limits.activeRuns);
  }

  /** Adds a waiting run. */
  accept(request: SandboxRequest, now: number, finish: (outcome: SandboxOutcome) => void): void {
    const run = new SandboxRun(request, now, this.#limits.hostResultCharsPerRun, finish);
    this.#runs.add(run);
    this.#runsOfWorkspace.add(request.workspaceId, 1);
    this.#slowDownIfLarge(run, request.argsJson.length);
    this.#placement.add(run);
    if (request.signal === undefined) return;
    // Not assigned where it is made: V8 puts a function that is assigned to a property into the old generation at once, and
    // the run and its request would stay there until the next major collection.
    const onAbort = () => this.#stop(run, stopped("cancelled", "The caller disconnected", run));
    run.onAbort = onAbort;
    request.signal.addEventListener("abort", onAbort, { once: true });
  }

  /** Places waiting runs on children with room for them. */
  place(children: Children): void {
    this.#placement.place(children, (run, child) => {
      run.state = "placed";
      run.child = child;
      run.ticket = child.start(run, this.#usage.expectedMs(run.request.workspaceId));
    });
  }

  /** Applies a message from a child to its run. */
  handleMessage(child: Child, message: FromChild): void {
    const run = child.assigned.get(message[1]);
    if (run === undefined) return;
    if (message[0] === "call") this.#callHost(run, message[2], message[3], message[4]);
    else if (message[0] === "log") {
      if (run.logs.length < this.#limits.logLinesPerRun) run.logs.push(shownLine(message[2]));
    } else if (message[0] === "used") this.#chargeStep(run, message[2]);
    else if (message[0] === "full") {
      child.assigned.refuse(run);
      this.#returnToWaiting(run);
    } else {
      child.assigned.remove(run.ticket);
      if (message[0] === "skipped") this.#returnToWaiting(run);
      else if (message[0] === "lost") this.#recover(run);
      else if (message[0] === "fail") this.#fail(run, message[2], message[3].toWellFormed(), message[4], message[5]);
      else {
        this.#chargeRun(run, message[3]);
        this.#slowDownIfLarge(run, message[2].length);
        this.#end(run, { kind: "ok", resultJson: message[2], cpuMs: message[3], logs: run.logs });
      }
    }
  }

  /** Ends or saves the runs of a child that has ended. */
  handleChildEnd(child: Child, end: ProcessEnd, children: Children): void {
    const lastStep = child.process.currentStep();
    const reason = harmOf(child, end);
    const culprit = reason === "memory" ? child.lastRun() : child.currentRun();
    const isLate = child.killedFor === "late";
    if (culprit !== undefined && !isLate) this.#usage.charge(culprit.request.workspaceId, child.stepCpuMs);
    // Before the other runs are placed again. The culprit may have ended already, for example after a timeout.
    if (culprit !== undefined && reason !== undefined) this.#keepApart(culprit, reason, children);
    for (const run of child.assigned.removeAll()) {
      if (run.ticket > lastStep) this.#returnToWaiting(run);
      else if (run !== culprit) this.#recover(run);
      else if (isLate) this.#fail(run, "cpu", CPU_LIMIT_EXCEEDED, "", run.cpuMsCharged + child.stepCpuMs);
      else this.#endCulprit(run, reason);
    }
  }

  /**
   * Moves the runs that a child has not begun, when it has made no progress for this long. One that was moved before gets
   * more time: otherwise a run whose arguments take long to read on a busy machine would be moved for ever.
   */
  reassignUnstarted(child: Child, stuckMs = Number.POSITIVE_INFINITY): void {
    const timesMoved = Math.min(child.mostMoved(), MAX_PATIENCE);
    if (stuckMs < this.#limits.stallMs * 2 ** timesMoved) return;
    child.takeBackUnbegun((runs) => {
      for (const run of runs) {
        run.timesMoved += 1;
        this.#returnToWaiting(run);
      }
    });
  }

  /** The step that a child is carrying out takes long: the workspace's next runs must not wait beside others. */
  slowDownCurrent(child: Child): void {
    const run = child.currentRun();
    if (run !== undefined) this.#placement.slowDown(run, this.#limits.slowStepForMs);
  }

  expire(now: number): void {
    for (const run of this.#runs) {
      if (run.deadline > now) continue;
      if (run.state === "placed") this.#stop(run, stopped("timeout", "The run took too long", run));
      else this.#end(run, stopped("overloaded", "The run's time ended before it began", run));
    }
  }

  endWaiting(reason: string): void {
    for (const run of this.#runs) if (run.state === "waiting") this.#end(run, stopped("overloaded", reason, run));
  }

  endAll(): void {
    for (const run of this.#runs) this.#end(run, stopped("interrupted", "The sandbox is closed", run));
  }

  #callHost(run: SandboxRun, callId: number, name: string, argsJson: string): void {
    if (run.state === "ended") return;
    run.hostCalls += 1;
    const { hostCallsPerRun, concurrentHostCallsPerRun } = this.#limits;
    if (run.hostCalls > hostCallsPerRun) {
      this.#stop(run, stopped("too-many-host-calls", `More than ${hostCallsPerRun} host calls`, run));
    } else if (run.hostCallsUnderWay >= concurrentHostCallsPerRun) {
      // Its isolate should not have sent this call yet.
      this.#stop(
        run,
        stopped("too-many-host-calls", `More than ${concurrentHostCallsPerRun} concurrent host calls`, run),
      );
    } else {
      void serveHostCall(run, callId, name, argsJson, this.#limits).then((resultBytes) => {
        this.#slowDownIfLarge(run, resultBytes);
      });
    }
  }

  #slowDownIfLarge(run: SandboxRun, bytes: number): void {
    if (bytes >= this.#limits.largeBytes) this.#placement.slowDown(run, this.#limits.slowMs);
  }

  #chargeStep(run: SandboxRun, cpuMs: number): void {
    run.cpuMsCharged += cpuMs;
    this.#usage.charge(run.request.workspaceId, cpuMs);
    if (cpuMs >= this.#limits.slowStepMs) this.#placement.slowDown(run, this.#limits.slowStepForMs);
  }

  /** Charges what the steps of an ended run have used and not reported yet. */
  #chargeRun(run: SandboxRun, cpuMs: number): void {
    const { workspaceId } = run.request;
    this.#usage.charge(workspaceId, cpuMs - run.cpuMsCharged);
    this.#usage.expect(workspaceId, cpuMs);
    run.cpuMsCharged = cpuMs;
  }

  #fail(run: SandboxRun, kind: FailureKind, message: string, stack: string, cpuMs: number): void {
    this.#chargeRun(run, cpuMs);
    if (kind === "cpu" || kind === "memory") this.#placement.slowDown(run, this.#limits.slowMs, kind);
    if (kind !== "threw") this.#end(run, stopped(kind, message, run, cpuMs));
    else this.#end(run, { kind, message, ...(stack !== "" && { stack }), cpuMs, logs: run.logs });
  }

  /** Ends the run that its child was working on when it ended. */
  #endCulprit(run: SandboxRun, reason: string | undefined): void {
    if (reason === undefined) {
      this.#end(run, stopped("interrupted", "The sandbox process ended during the run", run));
    } else if (reason === "cpu") this.#end(run, stopped("cpu", CPU_LIMIT_EXCEEDED, run));
    else this.#end(run, stopped("memory", "The tool exceeded its memory limit", run));
  }

  /** From now on the run's workspace shares no child with others, and it leaves those that it shares. */
  #keepApart(run: SandboxRun, reason: string, children: Children): void {
    const { workspaceId } = run.request;
    this.#placement.quarantine(run, reason);
    this.#onHarm(workspaceId, reason);
    for (const child of children.all()) {
      const { runsOfWorkspace } = child.assigned;
      if (runsOfWorkspace.of(workspaceId) === 0 || runsOfWorkspace.size === 1) continue;
      this.reassignUnstarted(child);
      // The child confirms with `lost`, after which runs without effects begin again elsewhere.
      for (const { ticket } of child.assigned.ofWorkspace(workspaceId)) child.cancel(ticket);
    }
  }

  /** Takes a placed run back that its child has not begun. */
  #returnToWaiting(run: SandboxRun): void {
    if (run.state === "ended") return;
    run.state = "waiting";
    run.child = undefined;
    this.#placement.addFirst(run);
  }

  /** Handles a run whose isolate or child ended for another reason: it is begun again only if it had no effects. */
  #recover(run: SandboxRun): void {
    run.timesLost += 1;
    if (run.hostCalls === 0 && run.timesLost <= MAX_TIMES_LOST) this.#returnToWaiting(run);
    else this.#end(run, stopped("interrupted", "The run was cut off by a failure that it did not cause", run));
  }

  #end(run: SandboxRun, outcome: SandboxOutcome): void {
    if (run.state === "ended") return;
    run.state = "ended";
    this.#runs.delete(run);
    this.#runsOfWorkspace.add(run.request.workspaceId, -1);
    if (run.onAbort !== undefined) run.request.signal?.removeEventListener("abort", run.onAbort);
    run.results.end();
    if (run.hostCallsAbort !== undefined) run.inRequest(() => run.hostCallsAbort?.abort());
    run.finish(outcome);
  }

  /** Ends a run from outside; its child drops it and confirms with `lost`. */
  #stop(run: SandboxRun, outcome: SandboxOutcome): void {
    this.#end(run, outcome);
    run.child?.cancel(run.ticket);
  }
}

/**
 * How the code that a child was running harmed it; undefined when the child ended for another reason. Code that the child
 * would have interrupted, but too late, is not to blame.
 */
function harmOf({ killedFor }: Child, { signal }: ProcessEnd): string | undefined {
  if (killedFor === "late" || killedFor === "unresponsive") return undefined;
  if (killedFor !== undefined) return killedFor;
  return signal !== null && ENGINE_SIGNALS.has(signal) ? signal : undefined;
}
