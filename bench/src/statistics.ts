/**
 * The value that has `share` (0 to 1) of the sorted values at or below it: the nearest rank, never an interpolation.
 */
export function percentile(sorted: Float64Array, share: number): number {
  if (sorted.length === 0) return Number.NaN;
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  return sorted[Math.min(rank, sorted.length) - 1] as number;
}

export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] as number;
  return Number.isInteger(middle) ? ((sorted[middle - 1] as number) + upper) / 2 : upper;
}

/** NaN instead of infinity when there is nothing to compare with. */
export function ratio(value: number, base: number): number {
  return base > 0 ? value / base : Number.NaN;
}

export type LatencySummary = { count: number; p50Ms: number; p99Ms: number; maxMs: number };

/** Exact percentiles of all latencies. */
export function summarise(latenciesMs: readonly number[]): LatencySummary {
  const sorted = Float64Array.from(latenciesMs).sort();
  return {
    count: sorted.length,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    maxMs: sorted.at(-1) ?? Number.NaN,
  };
}
