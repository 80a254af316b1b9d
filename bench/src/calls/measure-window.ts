import { setTimeout as sleep } from "node:timers/promises";
import type { LoadMode, LoadOrder, LoadResult } from "../load/messages.ts";
import type { BenchProcess } from "../machine/child-process.ts";
import { startMeter, type Usage } from "../machine/meter.ts";
import type { KernelUnits } from "../machine/process-table.ts";
import type { Variant } from "./variants.ts";

export type Generator = BenchProcess<object, LoadOrder, LoadResult>;

export type Window = {
  mode: LoadMode;
  load: LoadResult;
  /** Over the whole window, warm-up included, until the last log line is in the database. */
  usage: Usage;
  /** Messages of log lines that were still on their way when the load ended, and how long they took. */
  unwrittenAtEnd: number;
  writtenAfterMs: number;
  /** Messages in which the log lines travelled: each carries those of one tick. */
  logMessages: number;
};

export type WindowOrder = { mode: LoadMode; warmUpMs: number; measureMs: number };

const POLL_MS = 20;
const WRITTEN_DEADLINE_MS = 60_000;

/** Loads one variant for a while. What it still owes its log afterwards is counted as its cost. */
export async function measureWindow(
  variant: Variant,
  order: WindowOrder,
  { generator, units, signal }: { generator: Generator; units: KernelUnits; signal: AbortSignal },
): Promise<Window> {
  signal.throwIfAborted();
  const groups = { ...variant.groups, generator: { pids: [generator.pid], take: "both" as const } };
  const messagesBefore = await variant.logMessages();
  using meter = startMeter(groups, units);
  const load = await generator.ask({ target: variant.target, ...order });
  const endedAt = performance.now();
  const unwrittenAtEnd = await variant.unwritten();
  while ((await variant.unwritten()) > 0) {
    if (performance.now() - endedAt > WRITTEN_DEADLINE_MS) throw new Error(`${variant.name}: the log is not written`);
    await sleep(POLL_MS, undefined, { signal });
  }
  const writtenAfterMs = performance.now() - endedAt;
  const usage = meter.stop();
  const logMessages = (await variant.logMessages()) - messagesBefore;
  return { mode: order.mode, load, usage, unwrittenAtEnd, writtenAfterMs, logMessages };
}
