import { LRUCache } from "lru-cache";
import type { EngineProcess, ProcessEnd, SpawnProcess } from "../processes/engine-process.ts";
import { checkFrame } from "../protocol/check-frame.ts";
import { createFrameReader, MAX_REPORT_BYTES } from "../protocol/frames.ts";
import type { ChildFrame, FromChild, GuestSettings, ToChild } from "../protocol/messages.ts";
import { createFrameWriter } from "./frame-writer.ts";
import type { SandboxRun } from "./run.ts";

const MAX_CODES = 1_000;
/** Steps on their way to a child; further starts wait in the pool. */
const MAX_STEPS = 32;
/** Tools with runs in one child at the same time: each has an isolate of its own. */
const MAX_TOOLS = 96;
/** How long a child may take to confirm that it has cancelled a run. */
const CONFIRM_MS = 5_000;

/** A step that the child has not reported as done. */
type Step = { number: number; run: SandboxRun; isStart: boolean };

export type ChildEvents = {
  onMessage: (child: Child, message: FromChild) => void;
  onUp: () => void;
  /** After the messages of a frame. */
  onFrame: () => void;
  /** It gets no more runs, and may be ended when it has none. */
  onDraining: (child: Child) => void;
  onEnd: (child: Child, end: ProcessEnd) => void;
};

/** One child process, the runs that it has, and the steps on their way to it. */
export class Child implements AsyncDisposable {
  readonly runs = new Map<number, SandboxRun>();
  readonly process: EngineProcess;
  /** It has reported that it is up. */
  ready = false;
  /** The pool has no more use for it. */
  isRetired = false;
  /** Its process is about to be stopped. */
  draining = false;
  /** Who has it: undefined for a spare. */
  workspaceId: string | undefined;
  /** When its last run ended. */
  idleSince: number;
  killedFor: "cpu" | "memory" | "unresponsive" | undefined;
  /** The run that it was killed for. */
  culprit: SandboxRun | undefined;
  readonly #closed = Promise.withResolvers<void>();
  readonly #send: (message: ToChild) => void;
  readonly #now: () => number;
  #steps: Step[] = [];
  #stepCount = 0;
  #codeCount = 0;
  /** When it began its current step. */
  #progressAt: number;
  #isGivingBack = false;
  /** When each run was cancelled that it has not confirmed, the first one first. */
  readonly #cancelled = new Map<number, number>();
  /** It has sent something that is not a frame. */
  #isBroken = false;
  /** The codes that the child knows, so that a code is sent once and not with every run. */
  readonly #codeIds = new LRUCache<string, number>({
    max: MAX_CODES,
    dispose: (codeId) => this.#send(["forget", codeId]),
  });

  constructor(settings: GuestSettings, spawn: SpawnProcess, events: ChildEvents, now: () => number) {
    this.#now = now;
    this.#progressAt = now();
    this.idleSince = now();
    const readFrames = createFrameReader(MAX_REPORT_BYTES);
    this.process = spawn({
      onData: (chunk) => {
        if (this.#isBroken) return;
        try {
          for (const frame of readFrames(chunk)) this.#receive(checkFrame(frame), events);
        } catch {
          this.#isBroken = true;
          this.kill("unresponsive");
        }
      },
      onDraining: () => {
        this.draining = true;
        events.onDraining(this);
      },
      onEnd: (end) => {
        events.onEnd(this, end);
        this.#closed.resolve();
      },
    });
    this.#send = createFrameWriter(this.process);
    this.#send(["begin", settings]);
  }

  /** The run whose step it is carrying out: it carries them out in order. */
  get currentRun(): SandboxRun | undefined {
    return this.#steps[0]?.run;
  }

  /** It has been in one step for so long. */
  isStalled(stallMs: number): boolean {
    return this.ready && this.#steps.length > 0 && this.#now() - this.#progressAt >= stallMs;
  }

  /** Steps on their way to it. */
  get load(): number {
    return this.#steps.length;
  }

  hasRoomFor({ request: { codeKey } }: SandboxRun): boolean {
    if (this.draining || this.killedFor !== undefined || this.#steps.length >= MAX_STEPS) return false;
    if (this.runs.size < MAX_TOOLS) return true;
    const tools = new Set([...this.runs.values()].map(({ request }) => request.codeKey));
    return tools.size < MAX_TOOLS || tools.has(codeKey);
  }

  /** Sends a run to the child and returns its ticket. */
  start(run: SandboxRun): number {
    const { argsJson, context, limits } = run.request;
    const codeId = this.#codeIdOf(run);
    const ticket = this.#addStep(run, true);
    this.runs.set(ticket, run);
    const { readOnly, testMode } = context;
    this.#send(["start", ticket, codeId, argsJson, readOnly, testMode, limits.cpuMs, limits.resultBytes]);
    return ticket;
  }

  /** Sends the result of a host call: all parts of its JSON. */
  resolve(run: SandboxRun, callId: number, parts: readonly string[]): void {
    for (const part of parts.slice(0, -1)) this.#send(["part", run.ticket, callId, part]);
    this.#send(["resolve", this.#addStep(run, false), run.ticket, callId, parts.at(-1) ?? ""]);
  }

  reject(run: SandboxRun, callId: number, message: string, name: string, code: string): void {
    this.#send(["reject", this.#addStep(run, false), run.ticket, callId, message, name, code]);
  }

  /** The child confirms it. */
  cancel(ticket: number): void {
    if (this.runs.has(ticket)) this.#cancelled.set(ticket, this.#now());
    this.#send(["cancel", ticket]);
  }

  /** Asks for the starts that it has not begun: it reports each of them as skipped. */
  giveBack(): void {
    if (this.#isGivingBack || !this.#steps.some(({ isStart }, at) => isStart && at > 0)) return;
    this.#isGivingBack = true;
    this.#send(["give-back"]);
  }

  /** Removes a run that the child no longer has. */
  remove(ticket: number): SandboxRun | undefined {
    const run = this.runs.get(ticket);
    this.runs.delete(ticket);
    this.#cancelled.delete(ticket);
    if (this.#steps.length > 0) this.#steps = this.#steps.filter((step) => step.run !== run);
    if (this.runs.size === 0) this.idleSince = this.#now();
    return run;
  }

  /** Steps are carried out in order, so only the first may have begun of those that it has not reported. */
  mayHaveBegun(run: SandboxRun): boolean {
    return this.ready && !this.#steps.some((step, at) => at > 0 && step.isStart && step.run === run);
  }

  /** Removes all runs, and says which of them it may have begun. */
  removeAll(): { run: SandboxRun; mayHaveBegun: boolean }[] {
    const all = [...this.runs.values()].map((run) => ({ run, mayHaveBegun: this.mayHaveBegun(run) }));
    this.runs.clear();
    this.#cancelled.clear();
    this.#steps = [];
    return all;
  }

  /** Kills it when it does not confirm that it has cancelled a run. */
  checkResponse(): void {
    const [first] = this.#cancelled.values();
    if (first !== undefined && this.#now() - first >= CONFIRM_MS) this.kill("unresponsive");
  }

  kill(reason: Child["killedFor"]): void {
    this.killedFor ??= reason;
    this.process.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isRetired = true;
    this.process.kill();
    await this.#closed.promise;
  }

  #codeIdOf({ request: { codeKey, code } }: SandboxRun): number {
    const known = this.#codeIds.get(codeKey);
    if (known !== undefined) return known;
    this.#codeCount += 1;
    this.#codeIds.set(codeKey, this.#codeCount);
    this.#send(["define", this.#codeCount, code]);
    return this.#codeCount;
  }

  #addStep(run: SandboxRun, isStart: boolean): number {
    this.#stepCount += 1;
    if (this.#steps.length === 0) this.#progressAt = this.#now();
    this.#steps.push({ number: this.#stepCount, run, isStart });
    return this.#stepCount;
  }

  #receive({ done, messages }: ChildFrame, events: ChildEvents): void {
    const isUp = !this.ready;
    const current = this.#steps[0];
    this.ready = true;
    if (isUp) events.onUp();
    this.#isGivingBack = false;
    const left = this.#steps.findIndex(({ number }) => number > done);
    this.#steps.splice(0, left < 0 ? this.#steps.length : left);
    for (const message of messages) events.onMessage(this, message);
    // What it reports during a step, such as the starts that it gives back, is no progress of that step.
    if (isUp || this.#steps[0] !== current) this.#progressAt = this.#now();
    events.onFrame();
  }
}
