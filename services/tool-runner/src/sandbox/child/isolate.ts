import ivm from "isolated-vm";
import { type EntryPoints, entryPoints } from "../guest/entry-points.ts";
import { hardenRealm } from "../guest/harden-realm.ts";
import { FACTORY_HEAD, type GuestSettings, SOURCE_NAME } from "../protocol/messages.ts";
import type { CpuShare } from "./cpu-share.ts";
import type { Engine, EntryArgs, Step, StepOutcome } from "./engine.ts";
import { type StepReading, startStep } from "./step-clock.ts";

/** What one isolate may hold. */
export const ISOLATE_MIB = 32;
const DRAIN_MS = 100;
/** How often reports are asked for on a machine that is so busy that the time was up before they were made. */
const DRAIN_TRIES = 3;
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

  run(entry: keyof EntryPoints, args: EntryArgs, cpuLimitMs: number, timesLost?: number): Step {
    const read = startStep();
    const isInterrupted = this.#enter(entry, args, this.#share.wallMsFor(cpuLimitMs, timesLost));
    const entered = read();
    const { tookMs, cpuMs } = entered;
    this.#share.observe(cpuMs, tookMs);
    if (this.isDead) return { outcome: "memory", cpuMs, reports: [] };
    const outcome = !isInterrupted ? "done" : cpuMs < cpuLimitMs ? "starved" : "cpu";
    const drained = this.#drain(read, entered);
    if (Array.isArray(drained)) return { outcome, cpuMs, reports: drained };
    const isWorse = outcome === "done" || drained === "memory";
    return { outcome: isWorse ? drained : outcome, cpuMs: read().cpuMs, reports: [] };
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

  /** Whether the time was up before the guest's job queue was empty. */
  #enter(entry: keyof EntryPoints, args: EntryArgs, timeoutMs: number): boolean {
    const begun = performance.now();
    try {
      this.#entries[entry].applySync(undefined, args as (string | number | boolean)[], { timeout: timeoutMs });
      return false;
    } catch {
      // Anything else is a rejection that the guest did not handle, which is harmless. Only the clock can tell the two
      // apart, because the guest chooses the text of its errors.
      return performance.now() - begun >= timeoutMs;
    }
  }

  /** What the guest reports, or why that could not be made. */
  #drain(read: () => StepReading, entered: StepReading): unknown[] | Exclude<StepOutcome, "done"> {
    let before = entered;
    for (let timesTried = 0; timesTried < DRAIN_TRIES; timesTried += 1) {
      const timeout = this.#share.wallMsFor(DRAIN_MS, timesTried);
      try {
        return JSON.parse(this.#entries.drain.applySync(undefined, [], { timeout }) as string);
      } catch {
        if (this.isDead) return "memory";
        const after = read();
        const [tookMs, cpuMs] = [after.tookMs - before.tookMs, after.cpuMs - before.cpuMs];
        before = after;
        this.#share.observe(cpuMs, tookMs);
        // Otherwise the machine is busy. Nothing is lost: the reports are removed only when they have been made.
        if (cpuMs >= DRAIN_MS || tookMs < timeout) return "cpu";
      }
    }
    return "starved";
  }
}
