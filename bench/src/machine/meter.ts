import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Which processes a figure includes: these, their descendants, or both. */
type Group = { pids: readonly number[]; take: "these" | "below" | "both" };
export type Groups = Readonly<Record<string, Group>>;

export type Usage = {
  tookMs: number;
  cpuMs: Record<string, number>;
  memory: Record<string, { maxBytes: number }>;
};

export function sumOf(figures: Readonly<Record<string, number>>): number {
  return Object.values(figures).reduce((sum, value) => sum + value, 0);
}

/** CPU time of each process and of the children that it outlived. */
type ProcessTable = ReadonlyMap<number, { parent: number; cpuMs: number }>;

const MEMORY_EVERY_MS = 250;

/** Measures until it is stopped. Children that start meanwhile count for CPU time; a new root process does not. */
export function startMeter(groups: Groups): Disposable & { stop(): Usage } {
  const tickMs = 1000 / readConstant("CLK_TCK");
  const pageBytes = readConstant("PAGESIZE");
  const startedAt = performance.now();
  const table = readProcessTable(tickMs);
  const before = cpuOf(groups, table);
  const members = mapValues(groups, (group) => pidsOf(table, group));
  let memory: Usage["memory"] = mapValues(members, () => ({ maxBytes: 0 }));
  const readMemory = () => {
    memory = mapValues(members, (pids, name) => ({
      maxBytes: Math.max(memory[name]?.maxBytes ?? 0, residentBytes(pids, pageBytes)),
    }));
  };
  const timer = setInterval(readMemory, MEMORY_EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      readMemory();
      const after = readProcessTable(tickMs);
      const cpuMs = mapValues(cpuOf(groups, after), (value, name) => value - (before[name] ?? 0));
      return { tookMs: performance.now() - startedAt, cpuMs, memory };
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

function pidsOf(table: ProcessTable, { pids, take }: Group): number[] {
  if (take === "these") return [...pids];
  const found = treesOf(table, pids);
  if (take === "below") for (const pid of pids) found.delete(pid);
  return [...found];
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
