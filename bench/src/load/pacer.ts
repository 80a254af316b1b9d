// Wakes its parent at each tick. Timers of an event loop are whole milliseconds; this thread sleeps in fractions.
import { parentPort, workerData } from "node:worker_threads";
import { monotonicMs } from "../machine/child-process.ts";

export type PacerData = { startMs: number; tickMs: number; untilMs: number };

const { startMs, tickMs, untilMs } = workerData as PacerData;
const cell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
for (let tick = 0; startMs + tick * tickMs < untilMs; ) {
  const waitMs = startMs + tick * tickMs - monotonicMs();
  if (waitMs > 0) Atomics.wait(cell, 0, 0, waitMs);
  parentPort?.postMessage(0);
  // Ticks that were slept through are left out: their calls are due with the next one.
  tick = Math.max(tick + 1, Math.ceil((monotonicMs() - startMs) / tickMs));
}
