import type { PoolLimits } from "../limits.ts";
import type { FromChild } from "../protocol/messages.ts";
import type { SandboxOutcome } from "../request.ts";
import type { Child, ChildEnd } from "./child.ts";
import { serveHostCall } from "./host-calls.ts";
import { type Run, stopped } from "./run.ts";
import type { RunRegistry } from "./run-registry.ts";

/** How the engine ends a process that it cannot save, nearly always because memory ran out. */
const ENGINE_SIGNALS: ReadonlySet<string> = new Set(["SIGABRT", "SIGTRAP", "SIGILL", "SIGSEGV", "SIGBUS"]);

export type ReportContext = {
  runs: RunRegistry;
  limits: PoolLimits;
  /** This run has exceeded a limit in a way that harms others. */
  blame: (run: Run, reason: string) => void;
};

/** What a message from a child means for its run. */
export function handleReport(context: ReportContext, child: Child, message: FromChild): void {
  const ticket = message[1];
  const run = child.assigned.get(ticket);
  if (run === undefined) return;
  if (message[0] === "call") handleHostCall(context, run, message[2], message[3], message[4]);
  else if (message[0] === "log") {
    if (run.logs.length < context.limits.logLinesPerRun) run.logs.push(message[2]);
  } else if (message[0] === "full") {
    child.assigned.refuse(ticket);
    context.runs.returnToWaiting(run);
  } else {
    child.assigned.remove(ticket);
    handleEnd(context, run, message);
  }
}

function handleHostCall({ runs, limits }: ReportContext, run: Run, callId: number, name: string, json: string): void {
  if (run.state === "ended") return;
  run.hostCalls += 1;
  const { hostCallsPerRun, hostCallsAtOncePerRun } = limits;
  if (run.hostCalls > hostCallsPerRun) {
    runs.stop(run, stopped("too-many-host-calls", `More than ${hostCallsPerRun} host calls`, run));
  } else if (run.hostCallsUnderWay >= hostCallsAtOncePerRun) {
    // Its isolate should have held this call back.
    runs.stop(run, stopped("too-many-host-calls", `More than ${hostCallsAtOncePerRun} host calls at once`, run));
  } else void serveHostCall(run, callId, name, json, limits);
}

type EndMessage = Extract<FromChild, ["ok" | "fail" | "skipped" | "lost", ...unknown[]]>;

function handleEnd({ runs, blame }: ReportContext, run: Run, message: EndMessage): void {
  switch (message[0]) {
    case "ok":
      runs.end(run, { kind: "ok", resultJson: message[2], cpuMs: message[3], logs: run.logs });
      break;
    case "fail": {
      const [, , kind, text, stack, cpuMs] = message;
      if (kind === "cpu" || kind === "memory") blame(run, kind);
      if (kind !== "threw") runs.end(run, stopped(kind, text, run, cpuMs));
      else runs.end(run, { kind, message: text, ...(stack !== "" && { stack }), cpuMs, logs: run.logs });
      break;
    }
    case "skipped":
      runs.returnToWaiting(run);
      break;
    case "lost":
      runs.recover(run);
  }
}

/** What the end of a child means for the runs that it had. */
export function handleChildEnd({ runs, blame }: ReportContext, child: Child, end: ChildEnd): void {
  const lastStep = child.progress.currentStep();
  const culprit = child.steps.find(({ number }) => number === lastStep)?.run;
  for (const run of child.assigned.removeAll()) {
    if (run.ticket > lastStep) runs.returnToWaiting(run);
    else if (run !== culprit) runs.recover(run);
    else {
      const { reason, outcome } = judge(child, end, run);
      if (reason !== undefined) blame(run, reason);
      runs.end(run, outcome);
    }
  }
}

/** The outcome of the run that its child was working on when it ended, and a reason if the run is to blame. */
function judge(child: Child, end: ChildEnd, run: Run): { reason?: string; outcome: SandboxOutcome } {
  const reason = child.killedFor ?? (ENGINE_SIGNALS.has(end.signal ?? "") ? String(end.signal) : undefined);
  if (reason === undefined || reason === "unresponsive") {
    return { outcome: stopped("interrupted", "The sandbox process ended during the run", run) };
  }
  if (reason === "cpu") return { reason, outcome: stopped("cpu", "The tool did not give the processor back", run) };
  return { reason, outcome: stopped("memory", "The tool used up its memory limit", run) };
}
