import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { atMostEvery, gauge } from "./metrics.ts";
import { type Metrics, startMetrics } from "./sdk.ts";

const TIMEOUT = { timeout: 20_000 };

let metrics: Metrics;
beforeEach(() => {
  metrics = startMetrics();
});
afterEach(() => metrics[Symbol.asyncDispose]());

/** The first scrape that matches: on a machine that stalls, one may end before a quick reader has been heard. */
const untilScraped = (pattern: RegExp) =>
  vi.waitUntil(async () => {
    const scraped = await metrics.scrape();
    return pattern.test(scraped) && scraped;
  }, TIMEOUT);

test("a gauge whose reader hangs or fails is left out of the scrape, also after it had a value", async () => {
  let read = async () => [[7]] as const;
  using _ = gauge("sometimes").observe(() => read());
  using __ = gauge("always").observe(() => [[1]]);
  await untilScraped(/^sometimes 7$/m);
  for (const unreadable of [() => new Promise<never>(() => {}), () => Promise.reject(new Error("down"))]) {
    read = unreadable;
    const scraped = await untilScraped(/^always 1$/m);
    expect(scraped).not.toMatch(/^sometimes /m);
  }
  read = async () => [[7]];
  await untilScraped(/^sometimes 7$/m);
});

test("scrapes at the same time all report every gauge", async () => {
  using _ = gauge("shared").observe(async () => [[1]]);
  await Promise.all([1, 2, 3].map(() => untilScraped(/^shared 1$/m)));
});

test("a read that hangs is not started a second time", async () => {
  let reads = 0;
  const waiting = Promise.withResolvers<number>();
  const read = atMostEvery(0, () => {
    reads += 1;
    return waiting.promise;
  });
  const results = [read()];
  const started = performance.now();
  // More than 0 ms later the result would be too old to share.
  while (performance.now() === started);
  results.push(read());
  waiting.resolve(5);
  expect(await Promise.all(results)).toEqual([5, 5]);
  expect(reads).toBe(1);
  await read();
  expect(reads).toBe(2);
});

test("the CPU time of the process is a counter", async () => {
  const scraped = await metrics.scrape();
  expect(scraped).toMatch(/^# TYPE process_cpu_seconds_total counter$/m);
  const user = /^process_cpu_seconds_total\{mode="user"\} (\S+)/m;
  const first = Number(user.exec(scraped)?.[1]);
  expect(first).toBeGreaterThan(0);
  const second = Number(user.exec(await metrics.scrape())?.[1]);
  // The time itself, not the sum of what each scrape read.
  expect(second).toBeGreaterThanOrEqual(first);
  expect(second).toBeLessThanOrEqual(process.cpuUsage().user / 1_000_000);
});

test("scrapes have the event loop's utilization, from the first one on, and its delay", async () => {
  const [, utilization] = /^nodejs_eventloop_utilization (\S+)$/m.exec(await metrics.scrape()) ?? [];
  expect(Number(utilization)).toBeGreaterThan(0);
  expect(Number(utilization)).toBeLessThan(1);
  // A busy machine may not have looked often enough before the first scrape.
  await expect.poll(metrics.scrape, TIMEOUT).toMatch(/^nodejs_eventloop_delay_p99 \d/m);
});
