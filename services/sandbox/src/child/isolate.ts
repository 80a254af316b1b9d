import ivm from "isolated-vm";
import { type EntryPoints, entryPoints } from "../guest/entry-points.ts";
import { hardenRealm } from "../guest/harden-realm.ts";
import { FACTORY_HEAD, type GuestSettings, SOURCE_NAME } from "../protocol/messages.ts";

/** What one isolate may hold. */
export const ISOLATE_MIB = 32;
const BYTES_PER_MIB = 1024 * 1024;
const ENTRY_NAMES = ["install", "start", "resolve", "reject", "cancel", "drain"] as const;

export type EntryArgs = readonly (string | number | boolean)[];

/** The isolate has been disposed of, or has run out of memory. */
export class IsolateEnded extends Error {}

/**
 * One isolate with one hardened realm. What it runs, it runs in a thread of its own, so that the child's main thread can
 * end it at any time. This is the only file that knows isolated-vm.
 */
export class Isolate implements Disposable {
  readonly #isolate = new ivm.Isolate({ memoryLimit: ISOLATE_MIB });
  readonly #context = this.#isolate.createContextSync();
  readonly #entries = {} as Record<keyof EntryPoints, ivm.Reference>;

  constructor(settings: GuestSettings) {
    // Only the callers of strict functions are hidden from the tool, which could keep values on them for its next runs.
    this.#context.evalSync(`"use strict";(${hardenRealm.toString()})()`);
    const program = `"use strict";return (${entryPoints.toString()})(${JSON.stringify(settings)})`;
    const entries = this.#context.evalClosureSync(program, [], { result: { reference: true } });
    for (const name of ENTRY_NAMES) this.#entries[name] = entries.getSync(name, { reference: true });
    entries.release();
  }

  /** Compiles a tool's factory without running the tool's own code. Rejects with the engine's SyntaxError. */
  compile(code: string): Promise<void> {
    return this.#unlessEnded(async () => {
      const origin = { filename: SOURCE_NAME, columnOffset: -FACTORY_HEAD.length };
      const factory = await this.#context.eval(code, { ...origin, reference: true });
      await this.#entries.install.apply(undefined, [factory.derefInto({ release: true })]);
    });
  }

  /**
   * Enters the isolate until its job queue is empty, after what was entered before. Resolves with what the guest has
   * reported, not checked in any way.
   */
  enter(entry: keyof EntryPoints, args: EntryArgs): Promise<unknown[]> {
    return this.#unlessEnded(async () => {
      // What it throws is a rejection that the guest did not handle, which is harmless.
      this.#entries[entry].applyIgnored(undefined, args as (string | number | boolean)[]);
      return JSON.parse((await this.#entries.drain.apply(undefined, [])) as string);
    });
  }

  /** Heap and buffers. */
  heapMib(): Promise<number> {
    return this.#unlessEnded(async () => {
      const heap = await this.#isolate.getHeapStatistics();
      return (heap.used_heap_size + heap.externally_allocated_size) / BYTES_PER_MIB;
    });
  }

  get hasEnded(): boolean {
    return this.#isolate.isDisposed;
  }

  [Symbol.dispose](): void {
    if (!this.hasEnded) this.#isolate.dispose();
  }

  async #unlessEnded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.hasEnded ? new IsolateEnded() : error;
    }
  }
}
