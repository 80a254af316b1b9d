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
  /** Called when it is up. */
  #onUp: (() => void) | undefined;
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
    let stop = () => {};
    const begin = (worker: Worker) => {
      worker.postMessage(source);
      const tooLong = () => end(refused("The handler takes too long to check"), false);
      stop = afterCpuTime(limitMs, () => threadCpuMs(this.#threadId), tooLong);
    };
    try {
      const worker = this.#start();
      // Its start takes long on a busy machine, and does not count.
      if (this.#isUp) begin(worker);
      else this.#onUp = () => begin(worker);
    } catch {
      end(refused("The handler cannot be checked now: try again later"), false);
    }
    const isUsable = await ended.promise;
    stop();
    this.#onUp = undefined;
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
        this.#onUp?.();
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
