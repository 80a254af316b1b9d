import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Process ids by name; each stands for the process and everything that it has started. */
export type Groups = Readonly<Record<string, readonly number[]>>;

const tickMs = 1000 / Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/** CPU time of each process and of the children that it outlived. */
type ProcessTable = ReadonlyMap<number, { parent: number; cpuMs: number }>;

/** Counts CPU time until it is asked: milliseconds by group. */
export function startMeter(groups: Groups): () => Record<string, number> {
  const cpuOf = (table: ProcessTable) =>
    mapValues(groups, (pids) => sum([...treeOf(table, pids)].map((pid) => table.get(pid)?.cpuMs ?? 0)));
  const before = cpuOf(readProcessTable());
  return () => mapValues(cpuOf(readProcessTable()), (cpuMs, name) => cpuMs - (before[name] ?? 0));
}

/** Resident memory in bytes by group, with shared pages divided among those that share them (PSS); NaN where unreadable. */
export function readMemory(groups: Groups): Record<string, number> {
  const table = readProcessTable();
  return mapValues(groups, (pids) =>
    sum(
      [...treeOf(table, pids)].map((pid) => {
        const kilobytes = /^Pss: +(\d+) kB$/m.exec(readOrNothing(`/proc/${pid}/smaps_rollup`))?.[1];
        return Number(kilobytes ?? Number.NaN) * 1024;
      }),
    ),
  );
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function treeOf(table: ProcessTable, pids: readonly number[]): Set<number> {
  const found = new Set(pids);
  let before = 0;
  while (found.size !== before) {
    before = found.size;
    for (const [pid, { parent }] of table) if (found.has(parent)) found.add(pid);
  }
  return found;
}

function readProcessTable(): ProcessTable {
  const table = new Map<number, { parent: number; cpuMs: number }>();
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? readOrNothing(`/proc/${name}/stat`) : "";
    if (stat === "") continue;
    // The second field is the program's name in brackets and may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    table.set(Number(name), { parent: Number(fields[1]), cpuMs: sum(fields.slice(11, 15).map(Number)) * tickMs });
  }
  return table;
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
