import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import { type Groups, startMeter } from "../machine/meter.ts";
import { type LatencySummary, summarise } from "../statistics.ts";

/** One figure: requests of a kind, each of which may differ from the one before. */
export type RequestCase = {
  name: string;
  /** What must happen before each request, outside the measured time. Such requests are only made one by one. */
  before?(n: number): Promise<void>;
  /** Returns how many rows came back. */
  send(n: number): Promise<number>;
};

type CaseFigures = {
  name: string;
  /** One request after the other. */
  alone: LatencySummary;
  /** Rows of a response, on average. */
  rows: number;
  /** CPU time of services and servers for one request, with what comes before it; other programs hardly change it. */
  cpuMs: number;
  /** Processors that other programs used meanwhile, on average. */
  foreignProcessors: number;
};

export type GroupFigures = {
  cases: CaseFigures[];
  /**
   * All cases without `before`, in turn and at a fixed rate. Latency counts from the time at which a request was due.
   */
  paced: LatencySummary;
};

export type Measuring = { groups: Groups; signal: AbortSignal };

/** For each case, one after the other. */
export const REQUESTS = 300;
/** For each group, at the fixed rate. */
export const PACED_REQUESTS = 300;
export const PACED_PER_SECOND = 50;
export const MAX_CONCURRENT = 8;
const WARM_UP_REQUESTS = 10;

export async function measureGroup(
  cases: readonly RequestCase[],
  measuring: Measuring,
  onCase: (figures: CaseFigures) => void,
): Promise<GroupFigures> {
  const figures: CaseFigures[] = [];
  for (const test of cases) {
    const measured = await measureCase(test, measuring);
    onCase(measured);
    figures.push(measured);
  }
  const unchanging = cases.filter(({ before }) => before === undefined);
  return { cases: figures, paced: await measurePaced(unchanging, measuring.signal) };
}

async function measureCase(test: RequestCase, { groups, signal }: Measuring): Promise<CaseFigures> {
  for (let n = 0; n < WARM_UP_REQUESTS; n += 1) await test.send(n);
  using meter = startMeter(groups);
  const { alone, rows } = await measureAlone(test, signal);
  const { cpuMs, foreignCpuMs, tookMs } = meter.stop();
  const ownMs = Object.values(cpuMs).reduce((sum, ms) => sum + ms, 0);
  return { name: test.name, alone, rows, cpuMs: ownMs / REQUESTS, foreignProcessors: foreignCpuMs / tookMs };
}

async function measureAlone({ before, send }: RequestCase, signal: AbortSignal) {
  const latencies: number[] = [];
  let rows = 0;
  for (let n = 0; n < REQUESTS; n += 1) {
    signal.throwIfAborted();
    await before?.(n);
    const startMs = performance.now();
    rows += await send(n);
    latencies.push(performance.now() - startMs);
  }
  return { alone: summarise(latencies), rows: rows / REQUESTS };
}

async function measurePaced(cases: readonly RequestCase[], signal: AbortSignal): Promise<LatencySummary> {
  const latencies: number[] = [];
  const startMs = performance.now();
  const dueTimes = Array.from({ length: PACED_REQUESTS }, (_, n) => startMs + (n * 1000) / PACED_PER_SECOND);
  await pLimit(MAX_CONCURRENT).map(dueTimes, async (dueMs, n) => {
    signal.throwIfAborted();
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    await cases[n % cases.length]?.send(Math.floor(n / cases.length));
    latencies.push(performance.now() - dueMs);
  });
  return summarise(latencies);
}
