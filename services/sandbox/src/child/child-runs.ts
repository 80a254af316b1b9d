import type { EntryPoints } from "../guest/entry-points.ts";
import { charsOf, MAX_REPORT_CHARS } from "../protocol/frames.ts";
import type { FailureKind, FromChild, ResultMessage, StartMessage, ToChild } from "../protocol/messages.ts";
import { type EntryArgs, IsolateEnded } from "./isolate.ts";
import type { StepClock } from "./step-clock.ts";
import type { ToolIsolate, ToolIsolates } from "./tool-isolates.ts";

/** Steps of one isolate that are handed to it together: it halves their CPU time, for that of a call at 64 connections. */
const MAX_TOGETHER = 8;
/** CPU time that the step of a cancelled run may use until it is interrupted, and with it the other runs of the tool. */
const CANCELLED_MS = 50;
const ERROR_CHARS = 2_000;
const TOO_MUCH_TOGETHER = "The workspace's runs exceeded the memory that they may use at the same time";
/** A UTF-16 unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_CHAR = 3;

type StepMessage = StartMessage | ResultMessage;
export type RunMessage = Exclude<ToChild, ["begin", unknown]>;
type ForgetMessage = ["forget", codeId: number];

type ChildRun = {
  readonly ticket: number;
  readonly tool: ToolIsolate;
  readonly resultBytes: number;
  cpuLimitMs: number;
  cpuMs: number;
  hasBegun: boolean;
  /** What has arrived of long results of host calls, by the call. */
  readonly parts: Map<number, string>;
};

/** The runs of a child. Carries out the pool's steps one at a time, and reports each run's end once. */
export class ChildRuns {
  /** The last step that was carried out. */
  done = 0;
  readonly #runs = new Map<number, ChildRun>();
  readonly #isolates: ToolIsolates;
  readonly #clock: StepClock;
  readonly #report: (message?: FromChild) => void;
  #queue: (StepMessage | ForgetMessage)[] = [];
  #isWorking = false;

  /** `report` without a message says that `done` has changed. */
  constructor(isolates: ToolIsolates, clock: StepClock, report: (message?: FromChild) => void) {
    this.#isolates = isolates;
    this.#clock = clock;
    this.#report = report;
  }

  handle(message: RunMessage): void {
    switch (message[0]) {
      case "define":
        this.#isolates.define(message[1], message[2]);
        break;
      case "cancel":
        this.#cancel(message[1]);
        break;
      case "part":
        this.#keepPart(message[1], message[2], message[3]);
        break;
      case "give-back":
        this.#giveBack(() => true);
        break;
      default:
        this.#queue.push(message);
        if (!this.#isWorking) void this.#work();
    }
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      if (next[0] === "forget") {
        this.#isolates.forget(next[1]);
        continue;
      }
      const run = this.#runOf(next);
      if (run === undefined) this.#finish(next);
      else await this.#carryOut(run, next);
    }
    this.#isWorking = false;
    this.#isolates.prepareSpare();
  }

  /** Carries out a step, and those behind it that are for the same isolate. */
  async #carryOut(run: ChildRun, first: StepMessage): Promise<void> {
    const steps = [this.#enter(run, first)];
    for (let next = this.#queue[0]; next !== undefined && steps.length < MAX_TOGETHER; next = this.#queue[0]) {
      if (next[0] === "forget" || this.#toolOf(next) !== run.tool) break;
      const other = this.#runOf(next);
      this.#queue.shift();
      if (other !== undefined) steps.push(this.#enter(other, next));
    }
    for (const { run: entered, message, reports } of steps) {
      entered.hasBegun = true;
      this.#clock.begin(entered);
      await this.#end(entered, reports);
      this.#finish(message);
    }
  }

  #toolOf(message: StepMessage): ToolIsolate | undefined {
    return message[0] === "start" ? this.#isolates.openFor(message[2]) : this.#runs.get(message[2])?.tool;
  }

  /** The run of a step: a new one, or undefined when it has ended. */
  #runOf(message: StepMessage): ChildRun | undefined {
    if (message[0] !== "start") return this.#runs.get(message[2]);
    const [, ticket, codeId, , , , cpuLimitMs, resultBytes] = message;
    const tool = this.#isolates.forNewRun(codeId);
    const run = { ticket, tool, cpuLimitMs, resultBytes, cpuMs: 0, hasBegun: false, parts: new Map() };
    this.#runs.set(ticket, run);
    tool.tickets.add(ticket);
    return run;
  }

  #enter(run: ChildRun, message: StepMessage) {
    const reports = this.#reportsOf(run, ...entryOf(run, message));
    // Awaited when its turn comes.
    reports.catch(() => {});
    return { run, message, reports };
  }

  async #reportsOf({ tool }: ChildRun, entry: keyof EntryPoints, args: EntryArgs): Promise<unknown[]> {
    await tool.loaded;
    return tool.isolate.enter(entry, args);
  }

  async #end(run: ChildRun, reported: Promise<unknown[]>): Promise<void> {
    const { tool } = run;
    try {
      const reports = await reported;
      const cpuMs = this.#clock.end();
      run.cpuMs += cpuMs;
      if (!this.#runs.has(run.ticket)) return;
      // It ended before it was interrupted.
      if (run.cpuMs > run.cpuLimitMs) this.#fail(run, "cpu", "The tool exceeded its CPU limit");
      else this.#pass(run, reports);
      if (!(await this.#isolates.afterStep(tool, cpuMs))) return;
      this.#fail(run, "memory", TOO_MUCH_TOGETHER);
    } catch (error) {
      run.cpuMs += this.#clock.end();
      if (!(error instanceof IsolateEnded)) this.#fail(run, "threw", String(error));
      else if (this.#clock.wasInterrupted) this.#fail(run, "cpu", "The tool exceeded its CPU limit");
      else this.#fail(run, "memory", "The tool exceeded its memory limit");
    }
    this.#endIsolate(tool);
  }

  #finish([, number]: StepMessage): void {
    this.done = number;
    this.#report();
  }

  #keepPart(ticket: number, callId: number, json: string): void {
    const parts = this.#runs.get(ticket)?.parts;
    parts?.set(callId, (parts.get(callId) ?? "") + json);
  }

  #giveBack(isMeant: (ticket: number) => boolean): void {
    this.#queue = this.#queue.filter(([kind, ticket]) => {
      const isGivenBack = kind === "start" && isMeant(ticket);
      if (isGivenBack) this.#report(["skipped", ticket]);
      return !isGivenBack;
    });
  }

  #cancel(ticket: number): void {
    const run = this.#runs.get(ticket);
    if (run === undefined) {
      this.#giveBack((one) => one === ticket);
      return;
    }
    run.cpuLimitMs = Math.min(run.cpuLimitMs, run.cpuMs + CANCELLED_MS);
    this.#remove(run);
    this.#report(["lost", ticket]);
    run.tool.isolate.enter("cancel", [ticket]).catch(() => {});
    this.#isolates.release(run.tool);
  }

  /** The runs in it are lost. */
  #endIsolate(tool: ToolIsolate): void {
    this.#isolates.destroy(tool);
    for (const ticket of tool.tickets) {
      const run = this.#runs.get(ticket);
      this.#runs.delete(ticket);
      this.#report([run?.hasBegun === false ? "skipped" : "lost", ticket]);
    }
    tool.tickets.clear();
  }

  /** Passes on what an isolate reports, but only for the run that was entered. */
  #pass(run: ChildRun, reports: unknown[]): void {
    const { ticket } = run;
    for (const report of reports as [string, number, ...unknown[]][]) {
      const [kind, from, ...rest] = report;
      if (from !== ticket || !this.#runs.has(ticket)) continue;
      if (charsOf(report) > MAX_REPORT_CHARS) this.#fail(run, "memory", "The tool sent more than its memory can hold");
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
    if (!this.#runs.has(run.ticket)) return;
    this.#remove(run);
    this.#report(["fail", run.ticket, kind, message.slice(0, ERROR_CHARS), stack, run.cpuMs]);
  }

  #remove({ ticket, tool }: ChildRun): void {
    this.#runs.delete(ticket);
    tool.tickets.delete(ticket);
  }
}

function entryOf(run: ChildRun, message: StepMessage): [keyof EntryPoints, EntryArgs] {
  if (message[0] === "start") {
    const [, ticket, , argsJson, readOnly, testMode, , resultBytes] = message;
    return ["start", [ticket, argsJson, readOnly, testMode, resultBytes]];
  }
  const [entry, , ticket, callId, text, ...rest] = message;
  const begun = run.parts.get(callId) ?? "";
  run.parts.delete(callId);
  return [entry, [ticket, callId, begun + text, ...rest]];
}

function fits(json: string, bytes: number): boolean {
  return json.length * MAX_BYTES_PER_CHAR <= bytes || Buffer.byteLength(json) <= bytes;
}
