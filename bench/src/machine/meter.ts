import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Which processes a figure includes: these, their descendants, or both; without some of those and their descendants. */
export type Group = { pids: readonly number[]; take: "these" | "below" | "both"; without?: readonly number[] };
export type Groups = Readonly<Record<string, Group>>;

export type Usage = {
  tookMs: number;
  cpuMs: Record<string, number>;
  memory: Record<string, { beforeBytes: number; maxBytes: number; afterBytes: number }>;
  /** CPU time of everything on this machine that belongs to no group and is not the measuring process. */
  foreignCpuMs: number;
};

/** CPU time of each process and of the children that it outlived. */
type ProcessTable = ReadonlyMap<number, { parent: number; cpuMs: number }>;

const MEMORY_EVERY_MS = 250;

/** Measures until it is stopped. Children that start meanwhile count for CPU time; a new root process does not. */
export function startMeter(groups: Groups): Disposable & { stop(): Usage } {
  const tickMs = 1000 / readConstant("CLK_TCK");
  const pageBytes = readConstant("PAGESIZE");
  const startedAt = performance.now();
  const table = readProcessTable(tickMs);
  const before = { cpuMs: cpuOf(groups, table), selfMs: sumCpu(table, [process.pid]), busyMs: machineBusyMs(tickMs) };
  const members = mapValues(groups, (group) => pidsOf(table, group));
  const memory: Usage["memory"] = mapValues(members, (pids) => {
    const bytes = residentBytes(pids, pageBytes);
    return { beforeBytes: bytes, maxBytes: bytes, afterBytes: bytes };
  });
  const readMemory = () => {
    for (const [name, pids] of Object.entries(members)) {
      const own = memory[name];
      if (!own) continue;
      own.afterBytes = residentBytes(pids, pageBytes);
      own.maxBytes = Math.max(own.maxBytes, own.afterBytes);
    }
  };
  const timer = setInterval(readMemory, MEMORY_EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      readMemory();
      const after = readProcessTable(tickMs);
      const cpuMs = mapValues(cpuOf(groups, after), (value, name) => value - (before.cpuMs[name] ?? 0));
      const selfMs = sumCpu(after, [process.pid]) - before.selfMs;
      const oursMs = Object.values(cpuMs).reduce((sum, value) => sum + value, selfMs);
      const foreignCpuMs = Math.max(0, machineBusyMs(tickMs) - before.busyMs - oursMs);
      return { tookMs: performance.now() - startedAt, cpuMs, memory, foreignCpuMs };
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function cpuOf(groups: Groups, table: ProcessTable): Record<string, number> {
  return mapValues(groups, (group) => sumCpu(table, pidsOf(table, group)));
}

function sumCpu(table: ProcessTable, pids: readonly number[]): number {
  return pids.reduce((total, pid) => total + (table.get(pid)?.cpuMs ?? 0), 0);
}

/** The processes of each group now. */
export function processesOf(groups: Groups): Record<string, number[]> {
  const table = readProcessTable(1000 / readConstant("CLK_TCK"));
  return mapValues(groups, (group) => pidsOf(table, group));
}

function pidsOf(table: ProcessTable, { pids, take, without = [] }: Group): number[] {
  if (take === "these") return [...pids];
  const found = treesOf(table, pids);
  if (take === "below") for (const pid of pids) found.delete(pid);
  return [...found.difference(treesOf(table, without))];
}

function treesOf(table: ProcessTable, pids: readonly number[]): Set<number> {
  const found = new Set<number>(pids);
  let before = 0;
  while (found.size !== before) {
    before = found.size;
    for (const [pid, { parent }] of table) if (found.has(parent)) found.add(pid);
  }
  return found;
}

function readProcessTable(tickMs: number): ProcessTable {
  const table = new Map<number, { parent: number; cpuMs: number }>();
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? readOrNothing(`/proc/${name}/stat`) : "";
    if (stat === "") continue;
    // The second field is the program's name in brackets and may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    table.set(Number(name), { parent: Number(fields[1]), cpuMs: ticks * tickMs });
  }
  return table;
}

/**
 * Memory of some processes together: the private pages of each, and the largest part that any of them maps from files
 * or shared memory, counted once (otherwise PostgreSQL's buffers would count for every connection).
 */
function residentBytes(pids: readonly number[], pageBytes: number): number {
  let own = 0;
  let largestMapped = 0;
  for (const pid of pids) {
    const [, resident = 0, mapped = 0] = readOrNothing(`/proc/${pid}/statm`).split(" ").map(Number);
    own += resident - mapped;
    largestMapped = Math.max(largestMapped, mapped);
  }
  return (own + largestMapped) * pageBytes;
}

/** CPU time that the whole machine has spent working since its start: all but idle, I/O wait and guests. */
function machineBusyMs(tickMs: number): number {
  const fields = readOrNothing("/proc/stat").split("\n")[0]?.trim().split(/\s+/).slice(1, 9).map(Number) ?? [];
  return fields.reduce((sum, ticks, index) => (index === 3 || index === 4 ? sum : sum + ticks), 0) * tickMs;
}

function readConstant(name: string): number {
  return Number(execFileSync("getconf", [name], { encoding: "utf8" }));
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function mapValues<From, To>(record: Readonly<Record<string, From>>, map: (value: From, name: string) => To) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}
