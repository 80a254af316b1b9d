import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { createSlots } from "@toolgate/slots/slots";
import { LRUCache } from "lru-cache";
import type { CompileResult } from "./compile.ts";

const THREADS = 2;
const MAX_WAITING_PER_WORKSPACE = 64;
const MAX_WAIT_MS = 120_000;
const MAX_HEAP_MIB = 256;
const MAX_CACHED_CHARS = 32 * 1024 * 1024;

/** How long the check of a handler may take when it is saved, and when it is loaded to run; nearly all take milliseconds. */
export const SAVE_LIMIT_MS = 10_000;
export const LOAD_LIMIT_MS = 30_000;

/** `ready`: its start takes long on a busy machine, and does not count. */
type CompileThread = { thread: Worker; ready: Promise<unknown> };

/**
 * Checks and compiles handlers in threads of their own, because the time it takes can grow with the square of the source's
 * length. Workspaces take turns, and each has at most one thread at a time.
 */
export class Compiler implements AsyncDisposable {
  readonly #slots = createSlots(THREADS, { maxWaiting: MAX_WAITING_PER_WORKSPACE, maxWaitMs: MAX_WAIT_MS });
  readonly #idle: CompileThread[] = [];
  readonly #all = new Set<Worker>();
  readonly #results = new LRUCache<string, CompileResult>({
    maxSize: MAX_CACHED_CHARS,
    sizeCalculation: (result, source) => source.length + (result.ok ? result.code.length : 0) + 1,
  });

  async compile(workspaceId: string, source: string, limitMs: number): Promise<CompileResult> {
    const known = this.#results.get(source);
    if (known !== undefined) return known;
    const slot = await this.#slots.take(workspaceId);
    if (slot === undefined) return refused("Too many handlers of the workspace are being checked: try again later");
    let worker: CompileThread | undefined;
    try {
      worker = this.#idle.pop() ?? this.#start();
      await worker.ready;
      worker.thread.postMessage(source);
      const [result] = await once(worker.thread, "message", { signal: AbortSignal.timeout(limitMs) });
      this.#results.set(source, result);
      this.#idle.push(worker);
      slot[Symbol.dispose]();
      return result;
    } catch (error) {
      // A check inside the engine cannot be interrupted: until it ends, there is one slot less.
      void Promise.resolve(worker?.thread.terminate()).finally(() => slot[Symbol.dispose]());
      const isLate = (error as Error).name === "AbortError";
      return refused(isLate ? "The handler takes too long to check" : "The handler needs too much memory to check");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#all].map((thread) => thread.terminate()));
  }

  #start(): CompileThread {
    const program = new URL("./compile-program.ts", import.meta.url);
    const thread = new Worker(program, { env: {}, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB } });
    thread.unref();
    this.#all.add(thread);
    thread.once("exit", () => this.#all.delete(thread));
    // Who waits for a result gets it too.
    thread.on("error", () => {});
    return { thread, ready: once(thread, "message") };
  }
}

function refused(message: string): CompileResult {
  return { ok: false, violations: [{ line: 1, column: 1, message }] };
}
