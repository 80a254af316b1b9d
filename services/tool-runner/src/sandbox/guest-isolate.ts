import ivm from "isolated-vm";
import { HOST_FUNCTIONS } from "../domain/host-functions.ts";
import { FACTORY_HEAD, SOURCE_NAME } from "./factory-text.ts";
import { type GuestEntries, guestEntries } from "./guest/guest-entries.ts";
import { hardenRealm } from "./guest/harden-realm.ts";

export const ISOLATE_MIB = 32;
const DRAIN_MS = 100;
const LOAD_MS = 1_000;
const BYTES_PER_MIB = 1024 * 1024;

type EntryName = keyof GuestEntries;
const ENTRY_NAMES: readonly EntryName[] = ["install", "start", "resolve", "reject", "abandon", "drain"];

export type EntryOutcome = "done" | "cpu" | "memory";

/** One isolate with one hardened realm; at first empty, then the home of one tool version. */
export type GuestIsolate = Disposable & {
  /** Compiles the factory. The tool's own code does not run yet; a text that does not compile throws. */
  load: (code: string) => void;
  /** Enters the isolate and stays until its job queue is empty or the time is over. */
  enter: (name: EntryName, args: readonly (string | number | boolean)[], timeoutMs: number) => EntryOutcome;
  drain: () => unknown[];
  cpuMs: () => number;
  heapMib: () => number;
  isDead: () => boolean;
};

export function createGuestIsolate(): GuestIsolate {
  const isolate = new ivm.Isolate({ memoryLimit: ISOLATE_MIB });
  const context = isolate.createContextSync();
  context.evalSync(`(${hardenRealm.toString()})()`);
  const table = context.evalClosureSync(`return (${guestEntries.toString()})(${JSON.stringify(HOST_FUNCTIONS)})`, [], {
    result: { reference: true },
  });
  const entries = {} as Record<EntryName, ivm.Reference>;
  for (const name of ENTRY_NAMES) entries[name] = table.getSync(name, { reference: true });
  table.release();

  return {
    load: (code) => {
      const origin = { filename: SOURCE_NAME, columnOffset: -FACTORY_HEAD.length };
      const factory = context.evalSync(code, { ...origin, reference: true, timeout: LOAD_MS });
      entries.install.applySync(undefined, [factory.derefInto({ release: true })]);
    },
    enter: (name, args, timeoutMs) => {
      const begun = performance.now();
      try {
        entries[name].applySync(undefined, args as (string | number | boolean)[], { timeout: timeoutMs });
        return "done";
      } catch {
        if (isolate.isDisposed) return "memory";
        // Anything else that surfaces is a rejection nobody handled: no reason to end the run, and the guest chose
        // its text, so the text decides nothing.
        return performance.now() - begun >= timeoutMs ? "cpu" : "done";
      }
    },
    drain: () => JSON.parse(entries.drain.applySync(undefined, [], { timeout: DRAIN_MS }) as string) as unknown[],
    cpuMs: () => Number(isolate.cpuTime) / 1_000_000,
    heapMib: () => {
      const heap = isolate.getHeapStatisticsSync();
      return (heap.used_heap_size + heap.externally_allocated_size) / BYTES_PER_MIB;
    },
    isDead: () => isolate.isDisposed,
    [Symbol.dispose]: () => {
      if (!isolate.isDisposed) isolate.dispose();
    },
  };
}
