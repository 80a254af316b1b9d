import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { type Isolation, onlyChildOf } from "../isolation/detect.ts";
import type { EngineProcess, ProcessEvents } from "./engine-process.ts";
import { spawnChild } from "./spawn-child.ts";

/** Without `onData` its output is for the caller to read. */
type LocalEvents = Pick<ProcessEvents, "onEnd"> & Partial<ProcessEvents>;

const STDERR_CHARS = 2_000;

/** A process on this machine. */
export class LocalProcess implements EngineProcess {
  readonly #process: ChildProcess;
  readonly input: Writable;
  readonly output: Readable;
  readonly #isForked: boolean;
  #enginePid: number | undefined;
  /** Its pid may belong to another process now. */
  #exited = false;

  constructor(isolation: Isolation, events: LocalEvents) {
    this.#isForked = isolation.layers.has("processes");
    this.#process = spawnChild(isolation);
    // Before anything can throw: without file descriptors left, the process has no streams.
    this.#process.on("error", () => {});
    const [input, output, errors] = this.#process.stdio as unknown as [Writable, Readable, Readable];
    this.input = input;
    this.output = output;
    this.#listen(errors, events);
  }

  /** The process that runs the tools. The one that was spawned may be its parent. */
  get pid(): number | undefined {
    const { pid } = this.#process;
    if (!this.#isForked || pid === undefined) return pid;
    this.#enginePid ??= onlyChildOf(pid);
    return this.#enginePid ?? pid;
  }

  write(bytes: Buffer, onWritten: (error?: Error | null) => void): void {
    this.input.write(bytes, onWritten);
  }

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

  #listen(errors: Readable, { onData, onEnd }: LocalEvents): void {
    let stderr = "";
    if (onData) this.output.on("data", onData);
    errors.on("data", (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(-STDERR_CHARS);
    });
    // `close` follows both.
    this.input.on("error", () => {});
    this.#process.on("exit", () => {
      this.#exited = true;
    });
    this.#process.on("close", (code, signal) => onEnd({ code, signal, stderr }));
  }
}
