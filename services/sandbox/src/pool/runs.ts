import { Counts } from "@toolgate/slots/counts";
import type { PoolSettings } from "../limits.ts";
import type { ProcessEnd } from "../processes/engine-process.ts";
import type { FailureKind, FromChild } from "../protocol/messages.ts";
import type { SandboxOutcome, SandboxRequest } from "../request.ts";
import type { Child } from "./child.ts";
import { serveHostCall } from "./host-calls.ts";
import { shownLine } from "./log-line.ts";
import type { Processes } from "./processes.ts";
import { SandboxRun, stopped } from "./run.ts";

/** A workspace gets a further process when a run of it has waited this long. */
const GROW_AFTER_MS = 50;
/** While no process can be started, a run waits this long for one. */
const START_WAIT_MS = 5_000;
/** How the engine ends a process after a fatal error, nearly always because memory ran out. */
const ENGINE_SIGNALS: ReadonlySet<string> = new Set(["SIGABRT", "SIGTRAP", "SIGILL", "SIGSEGV", "SIGBUS"]);

/** Every run that has not ended, and the only place where a run changes its state. */
export class Runs {
  readonly #all = new Set<SandboxRun>();
  readonly #ofWorkspace = new Counts();
  /** Those that wait for a process, by workspace. */
  readonly #waiting = new Map<string, SandboxRun[]>();
  readonly #limits: PoolSettings;
  readonly #now: () => number;

  constructor(limits: PoolSettings, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  get size(): number {
    return this.#all.size;
  }

  /** How many are with a child. */
  get placed(): number {
    return [...this.#all].filter((run) => run.state === "placed").length;
  }

  /** A workspace may have another run only while it has fewer than are free. */
  hasRoomFor(workspaceId: string): boolean {
    return this.#ofWorkspace.of(workspaceId) < this.#limits.activeRuns - this.#all.size;
  }

  /** Adds a waiting run. */
  accept(request: SandboxRequest, finish: (outcome: SandboxOutcome) => void): void {
    const run = new SandboxRun(request, this.#now(), finish);
    this.#all.add(run);
    this.#ofWorkspace.add(request.workspaceId, 1);
    this.#queueOf(request.workspaceId).push(run);
    if (request.signal === undefined) return;
    // Not assigned where it is made: V8 puts a function that is assigned to a property into the old generation at once, and
    // the run and its request would stay there until the next major collection.
    const onAbort = () => this.#stop(run, stopped("cancelled", "The caller disconnected", run));
    run.onAbort = onAbort;
    request.signal.addEventListener("abort", onAbort, { once: true });
  }

  /** Places waiting runs on processes of their workspaces. */
  place(processes: Processes): void {
    for (const [workspaceId, queue] of this.#waiting) {
      for (let run = queue[0]; run !== undefined; run = queue[0]) {
        if (run.state === "waiting" && !this.#placeOne(run, processes)) break;
        queue.shift();
      }
      if (queue.length === 0) this.#waiting.delete(workspaceId);
    }
  }

  /** Applies a message from a child to its run. */
  handleMessage(child: Child, message: FromChild): void {
    const run = child.runs.get(message[1]);
    if (message[0] === "stuck") {
      child.culprit = run;
      child.kill(message[2]);
    } else if (run === undefined) return;
    else if (message[0] === "call") this.#callHost(run, message[2], message[3], message[4]);
    else if (message[0] === "log") {
      if (run.logs.length < this.#limits.logLinesPerRun) run.logs.push(shownLine(message[2]));
    } else {
      child.remove(run.ticket);
      if (message[0] === "skipped") this.#returnToWaiting(run);
      else if (message[0] === "lost") this.#recover(run);
      else if (message[0] === "fail") this.#fail(run, message[2], message[3].toWellFormed(), message[4], message[5]);
      else this.#end(run, { kind: "ok", resultJson: message[2], cpuMs: message[3], logs: run.logs });
    }
  }

  /** Ends or saves the runs of a child that has ended. */
  handleChildEnd(child: Child, { signal }: ProcessEnd): void {
    const { killedFor } = child;
    const hasCrashed = killedFor === undefined && signal !== null && ENGINE_SIGNALS.has(signal);
    if (hasCrashed || killedFor === "memory") child.culprit ??= child.currentRun;
    const { culprit } = child;
    // The first of them first.
    for (const { run, mayHaveBegun } of child.removeAll().reverse()) {
      if (run !== culprit) {
        if (mayHaveBegun) this.#recover(run);
        else this.#returnToWaiting(run);
      } else if (killedFor === "cpu") this.#end(run, stopped("cpu", "The tool exceeded its CPU limit", run));
      else this.#end(run, stopped("memory", "The tool exceeded its memory limit", run));
    }
  }

  /** Ends runs whose time is over, and those that wait for a process while none could be started since `failingSince`. */
  expire(processes: Processes, failingSince: number | undefined): void {
    const now = this.#now();
    const isFailing = failingSince !== undefined && now - failingSince >= START_WAIT_MS;
    for (const run of this.#all) {
      const lacksProcess =
        failingSince !== undefined && run.state === "waiting" && processes.of(run.request.workspaceId).length === 0;
      if (run.deadline > now && !(lacksProcess && isFailing)) continue;
      if (lacksProcess) this.#stop(run, stopped("unavailable", "No process of the sandbox could be started", run));
      else if (run.child?.mayHaveBegun(run)) this.#stop(run, stopped("timeout", "The run took too long", run));
      else this.#stop(run, stopped("overloaded", "The run's time ended before it began", run));
    }
  }

  endAll(): void {
    for (const run of this.#all) this.#end(run, stopped("interrupted", "The sandbox is closed", run));
  }

  #placeOne(run: SandboxRun, processes: Processes): boolean {
    const { workspaceId } = run.request;
    const { stallMs } = this.#limits;
    let child = processes.leastBusy(workspaceId, run, stallMs);
    if (child === undefined) {
      const mine = processes.of(workspaceId);
      const mustGrow = mine.every((one) => one.isStalled(stallMs)) || this.#now() - run.waitingSince >= GROW_AFTER_MS;
      if (!mustGrow || mine.some(({ ready }) => !ready)) return false;
      child = processes.take(workspaceId);
    }
    if (child === undefined) return false;
    run.state = "placed";
    run.child = child;
    run.ticket = child.start(run);
    return true;
  }

  #callHost(run: SandboxRun, callId: number, name: string, argsJson: string): void {
    if (run.state === "ended") return;
    run.hostCalls += 1;
    const { hostCallsPerRun, concurrentHostCallsPerRun } = this.#limits;
    const tooMany = (what: string) =>
      this.#stop(run, stopped("too-many-host-calls", `More than ${what} host calls`, run));
    if (run.hostCalls > hostCallsPerRun) tooMany(`${hostCallsPerRun}`);
    // Its isolate should not have sent this call yet.
    else if (run.hostCallsUnderWay >= concurrentHostCallsPerRun) tooMany(`${concurrentHostCallsPerRun} concurrent`);
    else void serveHostCall(run, callId, name, argsJson, this.#limits);
  }

  #fail(run: SandboxRun, kind: FailureKind, message: string, stack: string, cpuMs: number): void {
    if (kind !== "threw") this.#end(run, stopped(kind, message, run, cpuMs));
    else this.#end(run, { kind, message, ...(stack !== "" && { stack }), cpuMs, logs: run.logs });
  }

  /** Takes a placed run back that its child has not begun. */
  #returnToWaiting(run: SandboxRun): void {
    if (run.state === "ended") return;
    run.state = "waiting";
    run.child = undefined;
    run.waitingSince = this.#now();
    this.#queueOf(run.request.workspaceId).unshift(run);
  }

  /** Handles a run whose isolate or child ended for another reason: it begins again, once, if it had no effects. */
  #recover(run: SandboxRun): void {
    if (run.state === "ended") return;
    if (run.hostCalls > 0 || run.wasLost) {
      this.#end(run, stopped("interrupted", "The run was cut off by a failure that it did not cause", run));
      return;
    }
    run.wasLost = true;
    run.logs.length = 0;
    this.#returnToWaiting(run);
  }

  #end(run: SandboxRun, outcome: SandboxOutcome): void {
    if (run.state === "ended") return;
    run.state = "ended";
    this.#all.delete(run);
    this.#ofWorkspace.add(run.request.workspaceId, -1);
    if (run.onAbort !== undefined) run.request.signal?.removeEventListener("abort", run.onAbort);
    if (run.hostCallsAbort !== undefined) run.inRequest(() => run.hostCallsAbort?.abort());
    run.finish(outcome);
  }

  /** Ends a run from outside; its child drops it and confirms with `lost`. */
  #stop(run: SandboxRun, outcome: SandboxOutcome): void {
    this.#end(run, outcome);
    run.child?.cancel(run.ticket);
  }

  #queueOf(workspaceId: string): SandboxRun[] {
    const known = this.#waiting.get(workspaceId);
    if (known !== undefined) return known;
    const queue: SandboxRun[] = [];
    this.#waiting.set(workspaceId, queue);
    return queue;
  }
}
