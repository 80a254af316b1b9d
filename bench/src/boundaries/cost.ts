import { readFileSync } from "node:fs";

export type Cost = { name: string; wallUs: number; ownCpuUs: number; otherCpuUs: number };

const CALLS = 20_000;
const WARM_UP_SHARE = 0.2;
const NS_PER_US = 1_000;

/** The time and CPU time of a call, one after another or `lanes` at a time, in this process and in the given others. */
export async function costOf(
  name: string,
  call: () => unknown,
  calls = CALLS,
  { pids = [], lanes = 1 }: { pids?: readonly number[]; lanes?: number } = {},
): Promise<Cost> {
  const run = async (count: number) => {
    let left = count;
    const lane = async () => {
      for (; left > 0; left -= 1) await call();
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  };
  await run(Math.ceil(calls * WARM_UP_SHARE));
  const others = cpuUsOf(pids);
  const own = process.cpuUsage();
  const beganMs = performance.now();
  await run(calls);
  const wallUs = ((performance.now() - beganMs) * 1_000) / calls;
  const { user, system } = process.cpuUsage(own);
  return { name, wallUs, ownCpuUs: (user + system) / calls, otherCpuUs: (cpuUsOf(pids) - others) / calls };
}

/** Of the main threads, which do all the work. */
function cpuUsOf(pids: readonly number[]): number {
  const of = (pid: number) => Number(readFileSync(`/proc/${pid}/schedstat`, "ascii").split(" ")[0]) / NS_PER_US;
  return pids.reduce((sum, pid) => sum + of(pid), 0);
}
