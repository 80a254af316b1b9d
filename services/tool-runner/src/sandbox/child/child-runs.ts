import type { EntryPoints } from "../guest/entry-points.ts";
import { charsOf, MAX_MESSAGE_CHARS } from "../protocol/frames.ts";
import type { FailureKind, FromChild, ResultMessage, StartMessage, ToChild } from "../protocol/messages.ts";
import type { ProgressFile } from "../protocol/progress-file.ts";
import type { EntryArgs } from "./engine.ts";
import type { ToolIsolate, ToolIsolates } from "./tool-isolates.ts";

/** Steps shorter than this are only part of the run's total. */
const REPORTED_MS = 1;
const ERROR_CHARS = 2_000;
const TOO_MUCH_TOGETHER = "The workspace's runs exceeded the memory that they may use at the same time";
/** A UTF-16 unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_CHAR = 3;

type ChildRun = {
  readonly ticket: number;
  readonly tool: ToolIsolate;
  readonly cpuLimitMs: number;
  readonly resultBytes: number;
  readonly timesLost: number;
  cpuMs: number;
  /** What has arrived of long results of host calls, by the call. */
  parts: Map<number, string> | undefined;
};

/** The runs that a child has begun. Carries out the pool's messages one at a time, and reports each run's end once. */
export class ChildRuns {
  /** The last step that was carried out. */
  done = 0;
  readonly #runs = new Map<number, ChildRun>();
  readonly #isolates: ToolIsolates;
  readonly #progress: ProgressFile;
  readonly #report: (message: FromChild) => void;

  constructor(isolates: ToolIsolates, progress: ProgressFile, report: (message: FromChild) => void) {
    this.#isolates = isolates;
    this.#progress = progress;
    this.#report = report;
  }

  handle(message: ToChild): void {
    switch (message[0]) {
      case "define":
        this.#isolates.define(message[1], message[2], message[3]);
        break;
      case "forget":
        this.#isolates.forget(message[1]);
        break;
      case "cancel":
        this.#cancel(message[1]);
        break;
      case "part":
        this.#keepPart(message[1], message[2], message[3]);
        break;
      default:
        this.#progress.begin(message[1], this.#timeoutOf(message));
        if (message[0] === "start") this.#start(message);
        else this.#continue(message);
        this.done = message[1];
    }
  }

  #timeoutOf(message: StartMessage | ResultMessage): number {
    const { share } = this.#isolates;
    if (message[0] === "start") return share.wallMsFor(message[6], message[8] ?? 0);
    const run = this.#runs.get(message[2]);
    return run === undefined ? 0 : share.wallMsFor(run.cpuLimitMs);
  }

  #keepPart(ticket: number, callId: number, json: string): void {
    const run = this.#runs.get(ticket);
    if (run === undefined) return;
    run.parts ??= new Map();
    run.parts.set(callId, (run.parts.get(callId) ?? "") + json);
  }

  #continue([entry, , ticket, callId, text, ...rest]: ResultMessage): void {
    const run = this.#runs.get(ticket);
    if (run === undefined) return;
    const begun = run.parts?.get(callId) ?? "";
    run.parts?.delete(callId);
    this.#enter(run, entry, [ticket, callId, begun + text, ...rest]);
  }

  #start([, ticket, codeId, argsJson, readOnly, testMode, cpuLimitMs, resultBytes, timesLost = 0]: StartMessage): void {
    if (this.#progress.isTakenBack(ticket)) {
      this.#report(["skipped", ticket]);
      return;
    }
    let tool: ToolIsolate | undefined;
    try {
      tool = this.#isolates.forNewRun(codeId);
    } catch (error) {
      this.#report(["fail", ticket, "threw", String(error).slice(0, ERROR_CHARS), "", 0]);
      return;
    }
    if (tool === undefined) {
      this.#report(["full", ticket]);
      return;
    }
    const run: ChildRun = { ticket, tool, cpuLimitMs, resultBytes, timesLost, cpuMs: 0, parts: undefined };
    this.#runs.set(ticket, run);
    tool.tickets.add(ticket);
    this.#enter(run, "start", [ticket, argsJson, readOnly, testMode, resultBytes]);
  }

  #cancel(ticket: number): void {
    const run = this.#runs.get(ticket);
    if (run === undefined) return;
    run.tool.isolate.run("cancel", [ticket], run.cpuLimitMs);
    this.#remove(run);
    this.#report(["lost", ticket]);
    if (this.#isolates.afterStep(run.tool, 0)) this.#endIsolate(run.tool);
  }

  #enter(run: ChildRun, entry: keyof EntryPoints, args: EntryArgs): void {
    const { isolate } = run.tool;
    const leftMs = Math.max(1, run.cpuLimitMs - run.cpuMs);
    // Later steps cannot be tried again: the run has called the host.
    const timesLost = entry === "start" ? run.timesLost : undefined;
    const { outcome, cpuMs, reports } = isolate.run(entry, args, leftMs, timesLost);
    run.cpuMs += cpuMs;
    if (cpuMs >= REPORTED_MS) this.#report(["used", run.ticket, cpuMs]);
    // The host gets no calls of a starved step, so that the run can begin again.
    const isBegunAgain = outcome === "starved" && !hasEnded(run, reports);
    // It was not interrupted, because the engine's clock leaves some room.
    if (outcome === "done" && run.cpuMs > run.cpuLimitMs) {
      this.#fail(run, "cpu", "The tool exceeded its CPU limit");
      isolate.run("cancel", [run.ticket], run.cpuLimitMs);
    } else if (!isBegunAgain) this.#pass(run, reports);
    if (outcome === "done") {
      if (!this.#isolates.afterStep(run.tool, cpuMs)) return;
      if (this.#runs.has(run.ticket)) this.#fail(run, "memory", TOO_MUCH_TOGETHER);
    } else if (outcome !== "starved" && this.#runs.has(run.ticket)) {
      this.#fail(run, outcome, `The tool exceeded its ${outcome === "cpu" ? "CPU" : "memory"} limit`);
    }
    // Its memory is needed, or its job queue was cut off, with steps of other runs in it: the isolate ends with this run.
    this.#endIsolate(run.tool);
  }

  /** The runs in it are lost. */
  #endIsolate(tool: ToolIsolate): void {
    this.#isolates.destroy(tool);
    for (const ticket of tool.tickets) if (this.#runs.delete(ticket)) this.#report(["lost", ticket]);
  }

  /** Passes on what an isolate reports, but only for the run that was entered. */
  #pass(run: ChildRun, reports: unknown[]): void {
    const { ticket } = run;
    for (const report of reports as [string, number, ...unknown[]][]) {
      const [kind, from, ...rest] = report;
      if (from !== ticket || !this.#runs.has(ticket)) continue;
      if (charsOf(report) > MAX_MESSAGE_CHARS) this.#fail(run, "memory", "The tool sent more than its memory can hold");
      else if (kind === "call") this.#report(["call", ticket, rest[0] as number, rest[1] as string, rest[2] as string]);
      else if (kind === "log") this.#report(["log", ticket, rest[0] as string]);
      else if (kind === "fail") this.#fail(run, rest[0] as FailureKind, rest[1] as string, rest[2] as string);
      else if (fits(rest[0] as string, run.resultBytes)) {
        this.#remove(run);
        this.#report(["ok", ticket, rest[0] as string, run.cpuMs]);
      } else this.#fail(run, "result-too-large", "The result is too large");
    }
  }

  #fail(run: ChildRun, kind: FailureKind, message: string, stack = ""): void {
    this.#remove(run);
    this.#report(["fail", run.ticket, kind, message.slice(0, ERROR_CHARS), stack, run.cpuMs]);
  }

  #remove({ ticket, tool }: ChildRun): void {
    this.#runs.delete(ticket);
    tool.tickets.delete(ticket);
  }
}

/** Whether the run ended in the step that made these reports. */
function hasEnded({ ticket }: ChildRun, reports: unknown[]): boolean {
  return (reports as [string, number][]).some(([kind, from]) => from === ticket && kind !== "call" && kind !== "log");
}

function fits(json: string, bytes: number): boolean {
  return json.length * MAX_BYTES_PER_CHAR <= bytes || Buffer.byteLength(json) <= bytes;
}
