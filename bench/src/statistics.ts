/** The value below which `share` (0 to 1) of the sorted values lie: the nearest rank, never an interpolation. */
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

/** NaN instead of an endless figure when there is nothing to compare with. */
export function ratio(value: number, base: number): number {
  return base > 0 ? value / base : Number.NaN;
}

export type LatencySummary = { count: number; p50Ms: number; p99Ms: number; maxMs: number };

/** Keeps every latency, so that percentiles are exact. */
type Latencies = { add(ms: number): void; summary(): LatencySummary };

const FIRST_CAPACITY = 65_536;

export function createLatencies(): Latencies {
  let values = new Float64Array(FIRST_CAPACITY);
  let count = 0;
  return {
    add(ms) {
      if (count === values.length) {
        const larger = new Float64Array(count * 2);
        larger.set(values);
        values = larger;
      }
      values[count] = ms;
      count += 1;
    },
    summary() {
      const sorted = values.slice(0, count).sort();
      const maxMs = count > 0 ? (sorted[count - 1] as number) : Number.NaN;
      return { count, p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99), maxMs };
    },
  };
}
