import { type ActiveRun, stopped } from "./active-run.ts";
import { type ActiveRuns, createActiveRuns } from "./active-runs.ts";
import { createAnswerTurns } from "./answer-turns.ts";
import { serveHostCall } from "./host-calls.ts";
import type { PoolLimits } from "./limits.ts";
import type { SandboxOutcome, SandboxRequest } from "./outcome.ts";
import type { FailureKind, FromChild } from "./protocol.ts";
import { createRunFates } from "./run-fates.ts";
import type { ChildEnd, SandboxChild } from "./sandbox-child.ts";

/** How the engine ends a process that it cannot save, out of memory in nearly every case. */
const ENGINE_SIGNALS: ReadonlySet<string> = new Set(["SIGABRT", "SIGTRAP", "SIGILL", "SIGSEGV", "SIGBUS"]);

/** Every accepted run until it is answered, exactly once; and what news from a child means for it. */
export type RunBook = {
  readonly active: Pick<ActiveRuns, "size">;
  add: (request: SandboxRequest, finish: (outcome: SandboxOutcome) => void) => ActiveRun;
  onMessage: (child: SandboxChild, message: FromChild) => void;
  onEnd: (child: SandboxChild, end: ChildEnd) => void;
  /** Takes these runs, which the child has not begun, from it. */
  takeFrom: (child: SandboxChild, tickets: readonly number[]) => void;
  expire: (now: number) => void;
  /** Ends the runs that no child has. */
  refuseWaiting: (reason: string) => void;
  runsOf: (workspaceId: string) => number;
  close: () => void;
};

export type RunBookPorts = {
  limits: PoolLimits;
  now: () => number;
  placeAgain: (run: ActiveRun) => void;
  blame: (key: string, reason: string) => void;
};

export function createRunBook({ limits, now, placeAgain, blame }: RunBookPorts): RunBook {
  const active = createActiveRuns();

  const { settle, stop, replace, recover } = createRunFates(active, placeAgain);

  const onCall = (run: ActiveRun, callId: number, name: string, argsJson: string) => {
    run.hostCalls += 1;
    if (run.settled) return;
    const { hostCallsPerRun, hostCallsAtOncePerRun } = limits;
    if (run.hostCalls > hostCallsPerRun) {
      stop(run, stopped("too-many-host-calls", `More than ${hostCallsPerRun} host calls`, run));
    } else if (run.hostCallsUnderWay >= hostCallsAtOncePerRun) {
      // The isolate holds further ones back, so this one is none of an honest guest.
      stop(run, stopped("too-many-host-calls", `More than ${hostCallsAtOncePerRun} host calls at once`, run));
    } else void serveHostCall(run, callId, name, argsJson, limits);
  };
  const onFailure = (run: ActiveRun, kind: FailureKind, message: string, stack: string, cpuMs: number) => {
    if (kind === "cpu" || kind === "memory") blame(run.request.key, kind);
    const place = stack === "" ? {} : { stack };
    if (kind === "threw") settle(run, { kind, message, ...place, cpuMs, logs: run.logs });
    else settle(run, stopped(kind, message, run, cpuMs));
  };

  const onMessage = (child: SandboxChild, message: FromChild) => {
    const run = child.runs.get(message[1]);
    if (run === undefined) return;
    if (message[0] === "call") return onCall(run, message[2], message[3], message[4]);
    if (message[0] === "log") {
      if (run.logs.length < limits.logLinesPerRun) run.logs.push(message[2]);
      return;
    }
    if (message[0] === "full") {
      child.runs.refuse(message[1]);
      return replace(run);
    }
    child.runs.remove(message[1]);
    if (message[0] === "ok") settle(run, { kind: "ok", resultJson: message[2], cpuMs: message[3], logs: run.logs });
    else if (message[0] === "fail") onFailure(run, message[2], message[3], message[4], message[5]);
    else if (message[0] === "skipped") replace(run);
    else recover(run);
  };

  const onEnd = (child: SandboxChild, end: ChildEnd) => {
    const last = child.ledger.current();
    const culprit = child.entries.find((entry) => entry.seq === last)?.run;
    for (const [ticket, run] of child.runs.removeAll()) {
      if (ticket > last) replace(run);
      else if (run !== culprit) recover(run);
      else {
        const { reason, outcome } = judge(child, end, run);
        if (reason !== undefined) blame(run.request.key, reason);
        settle(run, outcome);
      }
    }
  };

  return {
    active,
    add: (request, finish) => {
      const run = newRun(request, now() + request.limits.wallMs, finish, limits);
      active.add(run);
      watchSignal(run, () => stop(run, stopped("cancelled", "The caller left", run)));
      return run;
    },
    onMessage,
    onEnd,
    takeFrom: (child, tickets) => {
      for (const ticket of tickets) {
        const run = child.runs.remove(ticket);
        if (run !== undefined) replace(run);
      }
    },
    expire: (time) => {
      for (const run of active) {
        if (run.deadline > time) continue;
        if (run.child === undefined) settle(run, stopped("overloaded", "The run's time ended before it began", run));
        else stop(run, stopped("timeout", "The run took too long", run));
      }
    },
    refuseWaiting: (reason) => {
      for (const run of active) if (run.child === undefined) settle(run, stopped("overloaded", reason, run));
    },
    runsOf: active.of,
    close: () => {
      for (const run of active) settle(run, stopped("interrupted", "The sandbox is closed", run));
    },
  };
}

function newRun(
  request: SandboxRequest,
  deadline: number,
  finish: (outcome: SandboxOutcome) => void,
  { hostAnswerCharsPerRun }: PoolLimits,
): ActiveRun {
  return {
    request,
    deadline,
    finish,
    logs: [],
    hostCalls: 0,
    hostCallsUnderWay: 0,
    answers: createAnswerTurns(hostAnswerCharsPerRun),
    restarts: 0,
    settled: false,
    child: undefined,
    ticket: 0,
    hostCallsOver: undefined,
  };
}

function watchSignal(run: ActiveRun, onAbort: () => void): void {
  const { signal } = run.request;
  if (signal === undefined) return;
  const { finish } = run;
  signal.addEventListener("abort", onAbort, { once: true });
  run.finish = (outcome) => {
    signal.removeEventListener("abort", onAbort);
    finish(outcome);
  };
}

/** What to tell the run that its child had in hand when it ended, and whether that was the tool's doing. */
function judge(child: SandboxChild, end: ChildEnd, run: ActiveRun): { reason?: string; outcome: SandboxOutcome } {
  const { verdict } = child;
  if (verdict === "cpu") {
    return { reason: verdict, outcome: stopped("cpu", "The tool did not give the processor back", run) };
  }
  if (verdict === "memory" || (end.signal !== null && ENGINE_SIGNALS.has(end.signal))) {
    const reason = verdict ?? String(end.signal);
    return { reason, outcome: stopped("memory", "The tool used up its memory limit", run) };
  }
  return { outcome: stopped("interrupted", "The sandbox process ended during the run", run) };
}
