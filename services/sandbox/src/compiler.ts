import { LRUCache } from "lru-cache";
import type { CompileResult } from "./compile.ts";
import { CompileThread, refused } from "./compile-thread.ts";

const THREADS = 2;
const MAX_WAITING_PER_WORKSPACE = 64;
const MAX_CACHED_CHARS = 32 * 1024 * 1024;

/** The CPU time that the check of a handler may take when it is saved, and when it is loaded to run. */
export const SAVE_LIMIT_MS = 3_000;
export const LOAD_LIMIT_MS = 20_000;

type Job = { source: string; limitMs: number; finish: (result: CompileResult) => void };

/**
 * Checks and compiles handlers in threads of their own, because the time it takes can grow with the square of the source's
 * length. Workspaces take turns, and each has at most one thread at a time.
 */
export class Compiler implements AsyncDisposable {
  readonly #waiting = new Map<string, Job[]>();
  readonly #busy = new Set<string>();
  readonly #free = Array.from({ length: THREADS }, () => new CompileThread());
  readonly #all = [...this.#free];
  readonly #results = new LRUCache<string, CompileResult>({
    maxSize: MAX_CACHED_CHARS,
    sizeCalculation: (result, source) => source.length + (result.ok ? result.code.length : 0) + 1,
  });

  compile(workspaceId: string, source: string, limitMs: number): Promise<CompileResult> {
    const known = this.#results.get(source);
    if (known !== undefined) return Promise.resolve(known);
    const jobs = this.#waiting.get(workspaceId) ?? [];
    if (jobs.length >= MAX_WAITING_PER_WORKSPACE) {
      return Promise.resolve(refused("Too many handlers of the workspace are being checked: try again later"));
    }
    return new Promise((finish) => {
      jobs.push({ source, limitMs, finish });
      this.#waiting.set(workspaceId, jobs);
      this.#next();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map((thread) => thread[Symbol.asyncDispose]()));
  }

  #next(): void {
    for (const [workspaceId, jobs] of this.#waiting) {
      if (this.#busy.has(workspaceId)) continue;
      const thread = this.#free.pop();
      if (thread === undefined) return;
      const job = jobs.shift();
      // Its next job comes after those of the others.
      this.#waiting.delete(workspaceId);
      if (jobs.length > 0) this.#waiting.set(workspaceId, jobs);
      if (job === undefined) this.#free.push(thread);
      else void this.#compile(thread, workspaceId, job);
    }
  }

  async #compile(thread: CompileThread, workspaceId: string, { source, limitMs, finish }: Job): Promise<void> {
    this.#busy.add(workspaceId);
    await thread.compile(source, limitMs, (result, isFinal) => {
      if (isFinal) this.#results.set(source, result);
      finish(result);
    });
    this.#busy.delete(workspaceId);
    this.#free.push(thread);
    this.#next();
  }
}
