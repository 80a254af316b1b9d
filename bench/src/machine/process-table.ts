import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

type Entry = { parent: number; cpuMs: number };
export type ProcessTable = ReadonlyMap<number, Entry>;

/** Sizes that the kernel's figures are counted in. */
export type KernelUnits = { tickMs: number; pageBytes: number };

export function kernelUnits(): KernelUnits {
  const read = (name: string) => Number(execFileSync("getconf", [name], { encoding: "utf8" }));
  return { tickMs: 1000 / read("CLK_TCK"), pageBytes: read("PAGESIZE") };
}

/** All processes with the CPU time that they, and the children that they outlived, have used since their start. */
export function readProcessTable({ tickMs }: KernelUnits): ProcessTable {
  const table = new Map<number, Entry>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const stat = readOrNothing(`/proc/${pid}/stat`);
    if (stat === undefined) continue;
    // The second field is the program's name in brackets and may hold spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [user, system, reapedUser, reapedSystem] = fields.slice(11, 15).map(Number) as [
      number,
      number,
      number,
      number,
    ];
    table.set(pid, { parent: Number(fields[1]), cpuMs: (user + system + reapedUser + reapedSystem) * tickMs });
  }
  return table;
}

/** The processes below `roots`, without these. */
export function descendantsOf(table: ProcessTable, roots: readonly number[]): number[] {
  const found = new Set<number>(roots);
  let before = 0;
  while (found.size !== before) {
    before = found.size;
    for (const [pid, { parent }] of table) if (found.has(parent)) found.add(pid);
  }
  for (const root of roots) found.delete(root);
  return [...found];
}

/**
 * Memory of some processes together: the pages of each that are its own, and once the largest part that is mapped
 * from files or memory of several (PostgreSQL's buffers would otherwise count for every connection).
 */
export function residentBytes(pids: readonly number[], { pageBytes }: KernelUnits): number {
  let own = 0;
  let largestMapped = 0;
  for (const pid of pids) {
    const [, resident = 0, mapped = 0] = (readOrNothing(`/proc/${pid}/statm`) ?? "").split(" ").map(Number);
    own += resident - mapped;
    largestMapped = Math.max(largestMapped, mapped);
  }
  return (own + largestMapped) * pageBytes;
}

/** CPU time that the whole machine has spent working since its start. */
export function machineBusyMs({ tickMs }: KernelUnits): number {
  const [line = ""] = readFileSync("/proc/stat", "utf8").split("\n");
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, steal = 0] = line
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softIrq + steal) * tickMs;
}

function readOrNothing(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
