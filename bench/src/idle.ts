import { setTimeout as sleep } from "node:timers/promises";
import type { BenchInstallation } from "./installation.ts";
import { readMemory, startMeter, sum } from "./meter.ts";
import { figure, table } from "./table.ts";

const QUIET_AFTER_MS = 15_000;
const MEBIBYTE = 1024 ** 2;

/** What the single topology costs while nobody uses it. */
export async function measureIdle({ groups }: BenchInstallation, windowMs: number): Promise<string> {
  await sleep(Math.min(QUIET_AFTER_MS, 3 * windowMs));
  const stop = startMeter(groups);
  const measuredMs = 3 * windowMs;
  await sleep(measuredMs);
  const cpuMs = stop();
  const memory = readMemory(groups);
  const together = { name: "together", cpuMs: sum(Object.values(cpuMs)), bytes: sum(Object.values(memory)) };
  const rows = Object.keys(groups).map((name) => ({
    name,
    cpuMs: cpuMs[name] ?? 0,
    bytes: memory[name] ?? Number.NaN,
  }));
  return table([...rows, together], {
    "": ({ name }) => name,
    "CPU, % of a core": (row) => figure((row.cpuMs / measuredMs) * 100, 2),
    "memory, MiB": ({ bytes }) => figure(bytes / MEBIBYTE),
  });
}
