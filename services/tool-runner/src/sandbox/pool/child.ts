import { LRUCache } from "lru-cache";
import type { EngineProcess, ProcessEnd, SpawnProcess } from "../processes/engine-process.ts";
import { checkFrame } from "../protocol/check-frame.ts";
import { createFrameReader } from "../protocol/frames.ts";
import type { ChildFrame, FromChild, GuestSettings, ToChild } from "../protocol/messages.ts";
import { charactersOf } from "../request.ts";
import { AssignedRuns } from "./assigned-runs.ts";
import { createFrameWriter } from "./frame-writer.ts";
import type { RunChild, SandboxRun } from "./run.ts";

const MAX_CODES = 1_000;

/** A step that the child has not reported as done. */
type Step = { number: number; run: SandboxRun; isStart: boolean; expectedMs: number; resultChars: number };

export type ChildEvents = {
  onMessage: (child: Child, message: FromChild) => void;
  /** After the messages of a frame. */
  onFrame: () => void;
  /** It gets no more runs, and may be ended when it has none. */
  onDraining: (child: Child) => void;
  onEnd: (child: Child, end: ProcessEnd) => void;
};

/** One child, the runs that it has, and the steps on their way to it. */
export class Child implements RunChild, AsyncDisposable {
  readonly assigned = new AssignedRuns();
  readonly steps: Step[] = [];
  readonly process: EngineProcess;
  /** The child has reported that it is up, and has not ended. */
  ready = false;
  /** When it reported that. */
  readySince: number | undefined;
  /** Its process is about to be stopped. */
  draining = false;
  /** The child has made no progress for a while; set by the watchdog. */
  stalled = false;
  killedFor: "cpu" | "late" | "memory" | "unresponsive" | undefined;
  /** When it last made progress, and the step that it was working on at the watchdog's last look. */
  progressAt: number;
  lastStep = 0;
  /** Starts that it has not reported as done. */
  unbegun = 0;
  /** CPU time that these will probably use. */
  unbegunMs = 0;
  /**
   * CPU time of the step that it was working on at the watchdog's last look, and the process' total when that began:
   * undefined where it cannot be read.
   */
  stepCpuMs = 0;
  cpuMsBeforeStep: number | undefined;
  /** Since when it has had runs without a break. */
  heldSince = 0;
  readonly #closed = Promise.withResolvers<void>();
  readonly #send: (message: ToChild) => void;
  readonly #now: () => number;
  #isTakingBack = false;
  #takesParts = false;
  /** It has sent something that is not a frame. */
  #isBroken = false;
  /** The run of the last step that it reported as done. */
  #lastDone: SandboxRun | undefined;
  #stepCount = 0;
  #codeCount = 0;
  /** The codes that the child knows, so that a code is sent once and not with every run. */
  readonly #codeIds = new LRUCache<string, number>({
    max: MAX_CODES,
    dispose: (codeId) => this.#send(["forget", codeId]),
  });

  constructor(settings: GuestSettings, spawn: SpawnProcess, events: ChildEvents, now: () => number) {
    this.#now = now;
    this.progressAt = now();
    const readFrames = createFrameReader();
    this.process = spawn(settings, {
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
        this.ready = false;
        if (end.outOfMemory) this.killedFor ??= "memory";
        events.onEnd(this, end);
        this.#closed.resolve();
      },
    });
    this.#send = createFrameWriter(this.process, () => {
      this.progressAt = now();
    });
  }

  /** The run whose step it is working on, or was when it ended. */
  currentRun(): SandboxRun | undefined {
    const current = this.process.currentStep();
    return this.steps.find(({ number }) => number === current)?.run;
  }

  /** The run that probably took the memory which a child lacked when it ended: its step may have been over just before. */
  lastRun(): SandboxRun | undefined {
    return this.currentRun() ?? this.#lastDone;
  }

  /** Sends a run to the child, which will probably need this much CPU time for it, and returns its ticket. */
  start(run: SandboxRun, expectedMs: number): number {
    const { argsJson, context, limits } = run.request;
    const codeId = this.#codeIdOf(run);
    const ticket = this.#addStep(run, true, expectedMs);
    this.unbegun += 1;
    this.unbegunMs += expectedMs;
    if (this.assigned.size === 0) this.heldSince = this.#now();
    this.assigned.add(ticket, run);
    const { readOnly, testMode } = context;
    const { cpuMs, resultBytes } = limits;
    this.#send(["start", ticket, codeId, argsJson, readOnly, testMode, cpuMs, resultBytes, run.timesLost]);
    return ticket;
  }

  /** Sends the result of a host call: all parts of its JSON. */
  resolve(run: SandboxRun, callId: number, parts: readonly string[]): void {
    const sent = this.#takesParts ? parts : [parts.join("")];
    for (const part of sent.slice(0, -1)) this.#send(["part", run.ticket, callId, part]);
    const step = this.#addStep(run, false, 0, charactersOf(sent));
    this.#send(["resolve", step, run.ticket, callId, sent.at(-1) ?? ""]);
  }

  reject(run: SandboxRun, callId: number, message: string, name: string, code: string): void {
    this.#send(["reject", this.#addStep(run, false), run.ticket, callId, message, name, code]);
  }

  cancel(ticket: number): void {
    this.#send(["cancel", ticket]);
  }

  /** How often the run that was moved most has been moved, of those that it has not begun. */
  mostMoved(): number {
    let most = 0;
    for (const { isStart, run } of this.steps) if (isStart) most = Math.max(most, run.timesMoved);
    return most;
  }

  /** Takes back the starts that it has not begun, and passes on the runs that it certainly will not begin. */
  takeBackUnbegun(onTaken: (runs: SandboxRun[]) => void): void {
    const last = this.steps.at(-1)?.number ?? 0;
    if (this.unbegun === 0 || this.#isTakingBack) return;
    this.#isTakingBack = true;
    this.process.takeBack(last, (begun) => {
      this.#isTakingBack = false;
      const isTaken = ({ number, isStart }: Step) => isStart && number > begun && number <= last;
      onTaken(this.steps.filter(isTaken).flatMap(({ number }) => this.assigned.remove(number) ?? []));
    });
  }

  kill(reason: Child["killedFor"]): void {
    this.killedFor = reason;
    this.process.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill();
    await this.#closed.promise;
  }

  #codeIdOf({ request: { codeKey, code, workspaceId } }: SandboxRun): number {
    const known = this.#codeIds.get(codeKey);
    if (known !== undefined) return known;
    this.#codeCount += 1;
    this.#codeIds.set(codeKey, this.#codeCount);
    this.#send(["define", this.#codeCount, code, workspaceId]);
    return this.#codeCount;
  }

  #addStep(run: SandboxRun, isStart: boolean, expectedMs = 0, resultChars = 0): number {
    this.#stepCount += 1;
    if (this.steps.length === 0) this.progressAt = this.#now();
    this.steps.push({ number: this.#stepCount, run, isStart, expectedMs, resultChars });
    run.results.sent(resultChars);
    return this.#stepCount;
  }

  #receive({ done, messages, takesParts }: ChildFrame, events: ChildEvents): void {
    if (takesParts === true) this.#takesParts = true;
    this.ready = true;
    this.readySince ??= this.#now();
    this.stalled = false;
    this.progressAt = this.#now();
    let finished = 0;
    for (const { number, run, isStart, expectedMs, resultChars } of this.steps) {
      if (number > done) break;
      if (isStart) this.unbegun -= 1;
      this.unbegunMs -= expectedMs;
      run.results.taken(resultChars);
      this.#lastDone = run;
      finished += 1;
    }
    this.steps.splice(0, finished);
    // Sums of fractions drift.
    if (this.unbegun === 0) this.unbegunMs = 0;
    for (const message of messages) events.onMessage(this, message);
    events.onFrame();
  }
}
