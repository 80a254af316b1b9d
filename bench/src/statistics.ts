export type Latency = { count: number; p50Ms: number; p99Ms: number };

/** Exact percentiles; NaN when there is nothing to summarise. */
export function summarise(latenciesMs: readonly number[]): Latency {
  const sorted = Float64Array.from(latenciesMs).sort();
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** Of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

/** The median round of each figure. */
export function medianLatency(rounds: readonly Latency[]): Latency {
  return {
    count: rounds.reduce((sum, { count }) => sum + count, 0),
    p50Ms: median(rounds.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
  };
}
