import { readFileSync } from "node:fs";

/** PSS divides each page among the processes that share it, so that sums are right; RSS counts it for each of them. */
export type Memory = { kind: "PSS" | "RSS"; bytes: Record<string, number> };

/** Memory of groups of processes: PSS, or RSS if the PSS of one of them may not be read. */
export function readMemory(groups: Readonly<Record<string, readonly number[]>>): Memory {
  const read = (kind: Memory["kind"]): Memory => ({
    kind,
    bytes: Object.fromEntries(Object.entries(groups).map(([name, pids]) => [name, sumOf(kind, pids)])),
  });
  const proportional = read("PSS");
  return Object.values(proportional.bytes).every(Number.isFinite) ? proportional : read("RSS");
}

function sumOf(kind: Memory["kind"], pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + bytesOf(kind, pid), 0);
}

/** NaN if it may not be read; 0 for a process that has ended. */
function bytesOf(kind: Memory["kind"], pid: number): number {
  const file = kind === "PSS" ? "smaps_rollup" : "status";
  const line = kind === "PSS" ? /^Pss: +(\d+) kB$/m : /^VmRSS:\s+(\d+) kB$/m;
  try {
    return Number(line.exec(readFileSync(`/proc/${pid}/${file}`, "utf8"))?.[1] ?? Number.NaN) * 1024;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return ["ENOENT", "ESRCH"].includes(code) ? 0 : Number.NaN;
  }
}
