import ivm from "isolated-vm";
import { type EntryPoints, entryPoints } from "../guest/entry-points.ts";
import { hardenRealm } from "../guest/harden-realm.ts";
import { FACTORY_HEAD, type GuestSettings, SOURCE_NAME } from "../protocol/messages.ts";
import type { CpuShare } from "./cpu-share.ts";
import type { Engine, EntryArgs, Step, StepOutcome } from "./engine.ts";

const ISOLATE_MIB = 32;
const DRAIN_MS = 100;
/** How often reports are asked for on a machine that is so busy that the time was up before they were made. */
const DRAIN_TRIES = 10;
const LOAD_MS = 1_000;
const BYTES_PER_MIB = 1024 * 1024;
const ENTRY_NAMES = ["install", "start", "resolve", "reject", "cancel", "drain"] as const;

/** One isolate with one hardened realm. This is the only file that knows isolated-vm. */
export class Isolate implements Engine {
  readonly #isolate = new ivm.Isolate({ memoryLimit: ISOLATE_MIB });
  readonly #context = this.#isolate.createContextSync();
  readonly #entries = {} as Record<keyof EntryPoints, ivm.Reference>;
  readonly #share: CpuShare;

  constructor(settings: GuestSettings, share: CpuShare) {
    this.#share = share;
    // Only the callers of strict functions are hidden from the tool, which could keep values on them for its next runs.
    this.#context.evalSync(`"use strict";(${hardenRealm.toString()})()`);
    const program = `"use strict";return (${entryPoints.toString()})(${JSON.stringify(settings)})`;
    const entries = this.#context.evalClosureSync(program, [], { result: { reference: true } });
    for (const name of ENTRY_NAMES) this.#entries[name] = entries.getSync(name, { reference: true });
    entries.release();
  }

  compile(code: string): void {
    const origin = { filename: SOURCE_NAME, columnOffset: -FACTORY_HEAD.length };
    const timeout = this.#share.wallMsFor(LOAD_MS);
    const factory = this.#context.evalSync(code, { ...origin, reference: true, timeout });
    this.#entries.install.applySync(undefined, [factory.derefInto({ release: true })]);
  }

  run(entry: keyof EntryPoints, args: EntryArgs, cpuMs: number): Step {
    const cpuMsBefore = this.#cpuMs;
    const begun = performance.now();
    const outcome = this.#enter(entry, args, cpuMs);
    // The isolate's own count is gone; on a busy machine the time is longer than what it may have used.
    if (outcome === "memory") return { outcome, cpuMs: Math.min(cpuMs, performance.now() - begun), reports: [] };
    const usedMs = this.#cpuMs - cpuMsBefore;
    try {
      return { outcome, cpuMs: usedMs, reports: this.#drain() };
    } catch {
      return { outcome: this.isDead ? "memory" : "cpu", cpuMs: usedMs, reports: [] };
    }
  }

  get heapMib(): number {
    const heap = this.#isolate.getHeapStatisticsSync();
    return (heap.used_heap_size + heap.externally_allocated_size) / BYTES_PER_MIB;
  }

  get isDead(): boolean {
    return this.#isolate.isDisposed;
  }

  [Symbol.dispose](): void {
    if (!this.isDead) this.#isolate.dispose();
  }

  #enter(entry: keyof EntryPoints, args: EntryArgs, cpuMs: number): StepOutcome {
    const timeoutMs = this.#share.wallMsFor(cpuMs);
    const cpuMsBefore = this.#cpuMs;
    const begun = performance.now();
    try {
      this.#entries[entry].applySync(undefined, args as (string | number | boolean)[], { timeout: timeoutMs });
      return "done";
    } catch {
      if (this.isDead) return "memory";
      // Anything else is a rejection that the guest did not handle, which is harmless. Only the clock can tell the two
      // apart, because the guest chooses the text of its errors.
      if (performance.now() - begun < timeoutMs) return "done";
      return this.#cpuMs - cpuMsBefore >= cpuMs ? "cpu" : "starved";
    } finally {
      if (!this.isDead) this.#share.observe(this.#cpuMs - cpuMsBefore, performance.now() - begun);
    }
  }

  #drain(): unknown[] {
    for (let tries = 1; ; tries += 1) {
      const timeout = this.#share.wallMsFor(DRAIN_MS);
      const cpuMsBefore = this.#cpuMs;
      try {
        return JSON.parse(this.#entries.drain.applySync(undefined, [], { timeout }) as string);
      } catch (error) {
        // Nothing is lost: the reports are removed only when they have been made.
        const wasStarved = !this.isDead && this.#cpuMs - cpuMsBefore < DRAIN_MS;
        if (!wasStarved || tries === DRAIN_TRIES) throw error;
      }
    }
  }

  get #cpuMs(): number {
    return Number(this.#isolate.cpuTime) / 1_000_000;
  }
}
