import type { ChildProcess } from "node:child_process";
import { setPriority } from "node:os";
import type { Readable, Writable } from "node:stream";
import { LRUCache } from "lru-cache";
import { type Isolation, onlyChildOf } from "../isolation/detect.ts";
import { createFrameReader } from "../protocol/frames.ts";
import type { ChildFrame, FromChild, GuestSettings, ToChild } from "../protocol/messages.ts";
import { ProgressFile } from "../protocol/progress-file.ts";
import { AssignedRuns } from "./assigned-runs.ts";
import { createFrameWriter } from "./frame-writer.ts";
import type { RunChild, SandboxRun } from "./run.ts";
import { spawnChild } from "./spawn-child.ts";

const STDERR_CHARS = 2_000;
const MAX_CODES = 1_000;

/** A step that the child has not reported as done. */
type Step = { number: number; run: SandboxRun; isStart: boolean; expectedMs: number; resultChars: number };

export type ChildEnd = { signal: NodeJS.Signals | null; code: number | null; stderr: string };

export type ChildEvents = {
  onMessage: (child: Child, message: FromChild) => void;
  /** After the messages of a frame. */
  onFrame: () => void;
  onEnd: (child: Child, end: ChildEnd) => void;
};

/** One child process, the runs that it has, and the steps on their way to it. */
export class Child implements RunChild, AsyncDisposable {
  readonly assigned = new AssignedRuns();
  readonly steps: Step[] = [];
  readonly progress = ProgressFile.create();
  /** The child has reported that it is up, and has not ended. */
  ready = false;
  /** The child has made no progress for a while; set by the watchdog. */
  stalled = false;
  killedFor: "cpu" | "memory" | "unresponsive" | undefined;
  /** When it last made progress, and the step that it was working on at the watchdog's last look. */
  progressAt: number;
  lastStep = 0;
  /** Starts that it has not reported as done. */
  unbegun = 0;
  /** CPU time that these will probably use. */
  unbegunMs = 0;
  /** CPU time of the step that it was working on at the watchdog's last look, and the process' total when that began. */
  stepCpuMs = 0;
  cpuMsBeforeStep = 0;
  /** Since when it has had runs without a break. */
  heldSince = 0;
  readonly #process: ChildProcess;
  readonly #closed = Promise.withResolvers<void>();
  readonly #send: (message: ToChild) => void;
  readonly #now: () => number;
  readonly #isForked: boolean;
  #enginePid: number | undefined;
  #priority = 0;
  #stepCount = 0;
  #codeCount = 0;
  /** The codes that the child knows, so that a code is sent once and not with every run. */
  readonly #codeIds = new LRUCache<string, number>({
    max: MAX_CODES,
    dispose: (codeId) => this.#send(["forget", codeId]),
  });

  constructor(settings: GuestSettings, isolation: Isolation, events: ChildEvents, now: () => number) {
    this.#now = now;
    this.#isForked = isolation.layers.has("processes");
    this.progressAt = now();
    this.#process = spawnChild(this.progress.fd, settings, isolation);
    this.#send = createFrameWriter(this.#process.stdin as Writable, () => {
      this.progressAt = now();
    });
    this.#listen(events);
  }

  /** The process that runs the tools. The one that was spawned may be its parent. */
  get pid(): number | undefined {
    const { pid } = this.#process;
    if (!this.#isForked || pid === undefined) return pid;
    this.#enginePid ??= onlyChildOf(pid);
    return this.#enginePid ?? pid;
  }

  /** The run whose step it is working on, or was when it ended. */
  currentRun(): SandboxRun | undefined {
    const current = this.progress.currentStep();
    return this.steps.find(({ number }) => number === current)?.run;
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
    this.#send(["start", ticket, codeId, argsJson, readOnly, testMode, limits.cpuMs, limits.resultBytes]);
    return ticket;
  }

  resolve(run: SandboxRun, callId: number, json: string): void {
    this.#send(["resolve", this.#addStep(run, false, 0, json.length), run.ticket, callId, json]);
  }

  reject(run: SandboxRun, callId: number, message: string, name: string, code: string): void {
    this.#send(["reject", this.#addStep(run, false), run.ticket, callId, message, name, code]);
  }

  cancel(ticket: number): void {
    this.#send(["cancel", ticket]);
  }

  /** A process may only lower its own priority and that of its children, so a child keeps the lower one. */
  setPriority(priority: number): void {
    this.#priority = priority;
    if (priority === 0) return;
    for (const pid of new Set([this.#process.pid, this.pid])) {
      try {
        if (pid !== undefined) setPriority(pid, priority);
      } catch {
        // It has ended already.
      }
    }
  }

  kill(reason: Child["killedFor"]): void {
    this.killedFor = reason;
    this.#kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#kill();
    await this.#closed.promise;
  }

  /** A parent of the process ends with it, and ends last, so that no zombie is left to others. */
  #kill(): void {
    const { pid } = this;
    if (pid === this.#process.pid) {
      this.#process.kill("SIGKILL");
      return;
    }
    // It stops when its child is stopped.
    this.#process.kill("SIGCONT");
    try {
      if (pid !== undefined) process.kill(pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  }

  #codeIdOf({ request: { codeKey, code } }: SandboxRun): number {
    const known = this.#codeIds.get(codeKey);
    if (known !== undefined) return known;
    this.#codeCount += 1;
    this.#codeIds.set(codeKey, this.#codeCount);
    this.#send(["define", this.#codeCount, code]);
    return this.#codeCount;
  }

  #addStep(run: SandboxRun, isStart: boolean, expectedMs = 0, resultChars = 0): number {
    this.#stepCount += 1;
    if (this.steps.length === 0) this.progressAt = this.#now();
    this.steps.push({ number: this.#stepCount, run, isStart, expectedMs, resultChars });
    run.results.sent(resultChars);
    return this.#stepCount;
  }

  #listen(events: ChildEvents): void {
    const [input, output, errors] = this.#process.stdio as unknown as [Writable, Readable, Readable];
    const readFrames = createFrameReader();
    let stderr = "";
    output.on("data", (chunk: Buffer) => {
      try {
        for (const frame of readFrames(chunk)) this.#receive(frame as ChildFrame, events);
      } catch {
        this.kill("unresponsive");
      }
    });
    errors.on("data", (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(-STDERR_CHARS);
    });
    // `close` follows both.
    input.on("error", () => {});
    this.#process.on("error", () => {});
    this.#process.on("close", (code, signal) => {
      this.ready = false;
      events.onEnd(this, { code, signal, stderr });
      this.progress.close();
      this.#closed.resolve();
    });
  }

  #receive({ done, messages }: ChildFrame, events: ChildEvents): void {
    // Until now only its parent had the priority.
    if (!this.ready) this.setPriority(this.#priority);
    this.ready = true;
    this.stalled = false;
    this.progressAt = this.#now();
    let finished = 0;
    for (const { number, run, isStart, expectedMs, resultChars } of this.steps) {
      if (number > done) break;
      if (isStart) this.unbegun -= 1;
      this.unbegunMs -= expectedMs;
      run.results.taken(resultChars);
      finished += 1;
    }
    this.steps.splice(0, finished);
    // Sums of fractions drift.
    if (this.unbegun === 0) this.unbegunMs = 0;
    for (const message of messages) events.onMessage(this, message);
    events.onFrame();
  }
}
