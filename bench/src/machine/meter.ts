import { descendantsOf, type KernelUnits, machineBusyMs, readProcessTable, residentBytes } from "./process-table.ts";

/** Which processes make up a figure: these, those below these, or both. */
export type Group = { pids: readonly number[]; take: "these" | "below" | "both" };
export type Groups = Readonly<Record<string, Group>>;

export type Memory = { beforeBytes: number; maxBytes: number; afterBytes: number };
export type Usage = {
  tookMs: number;
  cpuMs: Record<string, number>;
  memory: Record<string, Memory>;
  /** CPU time of everything on this machine that belongs to no group and is not the measuring process. */
  foreignCpuMs: number;
};

export type Meter = Disposable & { stop(): Usage };

const MEMORY_EVERY_MS = 250;

/** Measures until it is stopped. Children that begin in between count; a root that begins in between does not. */
export function startMeter(groups: Groups, units: KernelUnits): Meter {
  const startedAt = performance.now();
  const before = snapshot(groups, units);
  const members = membersOf(groups, units);
  const memoryNow = () => mapValues(members, (pids) => residentBytes(pids, units));
  const memoryBefore = memoryNow();
  const memoryMax = { ...memoryBefore };
  const keepMax = (now: Record<string, number>) => {
    for (const [name, bytes] of Object.entries(now)) memoryMax[name] = Math.max(memoryMax[name] ?? 0, bytes);
    return now;
  };
  const timer = setInterval(() => keepMax(memoryNow()), MEMORY_EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      const memoryAfter = keepMax(memoryNow());
      const after = snapshot(groups, units);
      const cpuMs = mapValues(after.cpuMs, (value, name) => value - (before.cpuMs[name] ?? 0));
      const ours = Object.values(cpuMs).reduce((sum, value) => sum + value, 0) + after.selfMs - before.selfMs;
      return {
        tookMs: performance.now() - startedAt,
        cpuMs,
        memory: mapValues(memoryAfter, (afterBytes, name) => ({
          beforeBytes: memoryBefore[name] ?? 0,
          maxBytes: memoryMax[name] ?? 0,
          afterBytes,
        })),
        foreignCpuMs: Math.max(0, after.busyMs - before.busyMs - ours),
      };
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function snapshot(groups: Groups, units: KernelUnits) {
  const table = readProcessTable(units);
  const sum = (pids: readonly number[]) => pids.reduce((total, pid) => total + (table.get(pid)?.cpuMs ?? 0), 0);
  const cpuMs = mapValues(groups, (group) => sum(pidsOf(table, group)));
  return { cpuMs, selfMs: sum([process.pid]), busyMs: machineBusyMs(units) };
}

function membersOf(groups: Groups, units: KernelUnits): Record<string, number[]> {
  const table = readProcessTable(units);
  return mapValues(groups, (group) => pidsOf(table, group));
}

function pidsOf(table: ReturnType<typeof readProcessTable>, { pids, take }: Group): number[] {
  const below = take === "these" ? [] : descendantsOf(table, pids);
  return take === "below" ? below : [...pids, ...below];
}

function mapValues<From, To>(record: Readonly<Record<string, From>>, map: (value: From, name: string) => To) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}
