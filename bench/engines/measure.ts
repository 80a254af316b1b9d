// Measures one engine in a process of its own, and prints the figures as JSON: `node measure.ts <subject> [bomb]`.
import { readFileSync } from "node:fs";
import { openSubject } from "./open-subject.ts";
import type { Subject, SubjectName } from "./subject.ts";
import { BOMBS, WORKLOADS } from "./workloads.ts";

const TENANTS = 20;
const STARTS = 20;
const WARM_UP_CALLS = 3;

export interface Figures {
  name: string;
  startMs: number;
  callMs: Record<string, number>;
  memoryMib: number;
}

const [subjectName, bomb] = process.argv.slice(2) as [SubjectName, keyof typeof BOMBS | undefined];
const subject = await openSubject(subjectName);
if (subject !== undefined) {
  console.log(JSON.stringify(bomb === undefined ? await measure(subject) : await explode(subject, BOMBS[bomb])));
}

async function measure(found: Subject): Promise<Figures> {
  const { handler, argsJson } = WORKLOADS["trivial handler with a host call"];
  const memoryMib = await memoryPerTenant(found, handler, argsJson);
  const starts: number[] = [];
  for (let n = 0; n < STARTS; n += 1) {
    const beganMs = performance.now();
    const tenant = await found.open(handler);
    await tenant.call(argsJson);
    starts.push(performance.now() - beganMs);
    await tenant[Symbol.asyncDispose]();
  }
  const callMs: Record<string, number> = {};
  for (const [name, workload] of Object.entries(WORKLOADS)) {
    const tenant = await found.open(workload.handler);
    const times: number[] = [];
    for (let n = 0; n < workload.calls + WARM_UP_CALLS; n += 1) {
      const beganMs = performance.now();
      await tenant.call(workload.argsJson);
      if (n >= WARM_UP_CALLS) times.push(performance.now() - beganMs);
    }
    callMs[name] = median(times);
    await tenant[Symbol.asyncDispose]();
  }
  return { name: found.name, startMs: median(starts), callMs, memoryMib };
}

/** Memory that twenty tenants need in addition, of this process and of their own. Shared pages are divided. */
async function memoryPerTenant(found: Subject, handler: string, argsJson: string): Promise<number> {
  const first = await found.open(handler);
  await first.call(argsJson);
  const before = memoryMibOf([process.pid]);
  const tenants = [];
  for (let n = 0; n < TENANTS; n += 1) {
    const tenant = await found.open(handler);
    await tenant.call(argsJson);
    tenants.push(tenant);
  }
  const after = memoryMibOf([process.pid, ...tenants.flatMap(({ pids }) => pids)]);
  for (const tenant of [first, ...tenants]) await tenant[Symbol.asyncDispose]();
  return (after - before) / TENANTS;
}

function memoryMibOf(pids: readonly number[]): number {
  const kib = (pid: number) => Number(/^Pss:\s+(\d+)/mu.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]);
  return pids.reduce((sum, pid) => sum + kib(pid), 0) / 1024;
}

/** How long a run that does not end lasts; the parent kills this process when it lasts too long. */
async function explode(found: Subject, handler: string): Promise<number> {
  const tenant = await found.open(handler);
  const beganMs = performance.now();
  await tenant.call("{}").catch(() => {});
  return performance.now() - beganMs;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
