import { Worker } from "node:worker_threads";
import type { CompileResult } from "./compile.ts";
import { afterCpuTime, threadCpuMs } from "./thread-cpu.ts";

const MAX_HEAP_MIB = 256;

/** What the thread sends: its number when it is up, then one result for each source. */
export type FromThread = { threadId: string | undefined } | { result: CompileResult };

/** A thread that checks and compiles one handler at a time, within a limit of its CPU time. */
export class CompileThread implements AsyncDisposable {
  #worker: Worker | undefined;
  #threadId: string | undefined;
  #isUp = false;
  #onResult: ((result: CompileResult) => void) | undefined;
  #onExit: (() => void) | undefined;

  /** Reports the result, and whether it will always be the same; resolves once the thread is free again. */
  async compile(
    source: string,
    limitMs: number,
    report: (result: CompileResult, isFinal: boolean) => void,
  ): Promise<void> {
    const ended = Promise.withResolvers<boolean>();
    const end = (result: CompileResult, isFinal: boolean) => {
      report(result, isFinal);
      ended.resolve(isFinal);
    };
    this.#onResult = (result) => end(result, true);
    this.#onExit = () => end(refused("The handler needs too much memory to check"), false);
    try {
      this.#start().postMessage(source);
    } catch {
      end(refused("The handler cannot be checked now: try again later"), false);
    }
    const tooLong = () => end(refused("The handler takes too long to check"), false);
    const stop = afterCpuTime(limitMs, () => this.#cpuMs(), tooLong);
    const isUsable = await ended.promise;
    stop();
    this.#onResult = undefined;
    this.#onExit = undefined;
    // A check inside the engine cannot be interrupted: until it ends, so many threads fewer are free.
    if (!isUsable) await this[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  /** While the thread starts, which takes long on a busy machine, the source has used no CPU time. */
  #cpuMs(): number | undefined {
    return this.#isUp ? threadCpuMs(this.#threadId) : 0;
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(new URL("./compile-program.ts", import.meta.url), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    });
    worker.unref();
    this.#threadId = undefined;
    this.#isUp = false;
    worker.on("message", (message: FromThread) => {
      if (worker !== this.#worker) return;
      if ("result" in message) this.#onResult?.(message.result);
      else {
        this.#threadId = message.threadId;
        this.#isUp = true;
      }
    });
    // `exit` follows.
    worker.on("error", () => {});
    worker.on("exit", () => {
      if (worker !== this.#worker) return;
      this.#worker = undefined;
      this.#onExit?.();
    });
    this.#worker = worker;
    return worker;
  }
}

export function refused(message: string): CompileResult {
  return { ok: false, violations: [{ line: 1, column: 1, message }] };
}
