import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import type { ChildGroup } from "../isolation/cgroups.ts";
import { type Isolation, onlyChildOf } from "../isolation/detect.ts";
import { LANES, type LaneName } from "../lanes.ts";
import type { GuestSettings } from "../protocol/messages.ts";
import { ProgressFile } from "../protocol/progress-file.ts";
import type { EngineProcess, ProcessEvents, Reading } from "./engine-process.ts";
import { lowerPriority } from "./priority.ts";
import { spawnChild } from "./spawn-child.ts";

const STDERR_CHARS = 2_000;
const PAGES_PER_MIB = 256;
const NS_PER_MS = 1_000_000;

/** A process on this machine. */
export class LocalProcess implements EngineProcess {
  readonly #progress = ProgressFile.create();
  readonly #process: ChildProcess;
  readonly #input: Writable;
  readonly #output: Readable;
  readonly #isForked: boolean;
  readonly #group: ChildGroup | undefined;
  #enginePid: number | undefined;
  #lane: LaneName = "ordinary";
  #isUp = false;
  /** Kept when the file is closed. */
  #lastStep = 0;
  /** Its pid may belong to another process now. */
  #exited = false;
  #ended = false;

  constructor(settings: GuestSettings, isolation: Isolation, events: ProcessEvents) {
    this.#isForked = isolation.layers.has("processes");
    this.#group = isolation.openGroup?.();
    try {
      this.#process = spawnChild(this.#progress.fd, settings, isolation, this.#group);
      const [input, output, errors] = this.#process.stdio as unknown as [Writable, Readable, Readable];
      this.#input = input;
      this.#output = output;
      this.#listen(errors, events);
    } catch (error) {
      this.#progress.close();
      this.#group?.remove();
      throw error;
    }
  }

  /** The process that runs the tools. The one that was spawned may be its parent. */
  get pid(): number | undefined {
    const { pid } = this.#process;
    if (!this.#isForked || pid === undefined) return pid;
    this.#enginePid ??= onlyChildOf(pid);
    return this.#enginePid ?? pid;
  }

  write(bytes: Buffer, onWritten: (error?: Error | null) => void): void {
    this.#input.write(bytes, onWritten);
  }

  /** Stops reading its output until `resume`. */
  pause(): void {
    this.#output.pause();
  }

  resume(): void {
    this.#output.resume();
  }

  setLane(lane: LaneName): void {
    this.#lane = lane;
    this.#group?.setWeight(LANES[lane].weight);
    this.#applyPriority();
  }

  reading(): Reading {
    const { pid } = this;
    const { step, timeoutMs } = this.#ended ? { step: this.#lastStep, timeoutMs: 0 } : this.#progress.current();
    return { step, timeoutMs, cpuMs: cpuMsOf(pid), residentMib: residentMibOf(pid) };
  }

  currentStep(): number {
    return this.#ended ? this.#lastStep : this.#progress.currentStep();
  }

  takeBack(lastStep: number, onBegun: (begun: number) => void): void {
    if (this.#ended) return;
    this.#progress.takeBack(this.#progress.currentStep() + 1, lastStep);
    onBegun(this.#progress.currentStep());
  }

  rest(): void {}

  /** A parent of the process ends with it, and ends last, so that no zombie is left to others. */
  kill(): void {
    if (this.#exited) return;
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

  #listen(errors: Readable, { onData, onEnd }: ProcessEvents): void {
    let stderr = "";
    this.#output.on("data", (chunk: Buffer) => {
      // Until now only its parent had the priority.
      if (!this.#isUp) this.#applyPriority();
      this.#isUp = true;
      onData(chunk);
    });
    errors.on("data", (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(-STDERR_CHARS);
    });
    // `close` follows both.
    this.#input.on("error", () => {});
    this.#process.on("error", () => {});
    this.#process.on("exit", () => {
      this.#exited = true;
    });
    this.#process.on("close", (code, signal) => {
      const outOfMemory = this.#group?.ranOutOfMemory() ?? false;
      this.#lastStep = this.#progress.currentStep();
      this.#ended = true;
      this.#progress.close();
      this.#group?.remove();
      onEnd({ code, signal, stderr, outOfMemory });
    });
  }

  /** A process may only lower its own priority and that of its children, so it keeps the lower one. */
  #applyPriority(): void {
    const { priority } = LANES[this.#lane];
    if (priority === 0) return;
    for (const pid of new Set([this.#process.pid, this.pid])) {
      if (pid !== undefined) lowerPriority(pid, priority);
    }
  }
}

/** CPU time of the main thread, which runs the tools; undefined where there is no /proc. */
function cpuMsOf(pid: number | undefined): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "ascii").split(" ")[0]) / NS_PER_MS;
  } catch {
    return undefined;
  }
}

/** Resident memory; 0 where there is no /proc; then only the engine's own limit applies. */
function residentMibOf(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "ascii").split(" ")[1]) / PAGES_PER_MIB;
  } catch {
    return 0;
  }
}
