import { createLatencies } from "../statistics.ts";
import type { LoadResult } from "./messages.ts";

/** Collects what a loop sees. Times are monotonic milliseconds. */
export type Score = {
  answered(status: number, dueMs: number, nowMs: number): void;
  sent(dueMs: number, nowMs: number): void;
  broken(): void;
  result(withLateness: boolean): LoadResult;
};

/** Calls due between the two times count for throughput and latency; all count for the number of answers. */
export function createScore(measureFromMs: number, measureUntilMs: number): Score {
  const latencies = createLatencies();
  const lateness = createLatencies();
  const statuses: Record<string, number> = {};
  let answered = 0;
  let inTime = 0;
  let brokenConnections = 0;
  const isMeasured = (ms: number) => ms >= measureFromMs && ms < measureUntilMs;
  return {
    answered(status, dueMs, nowMs) {
      answered += 1;
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (isMeasured(nowMs)) inTime += 1;
      if (isMeasured(dueMs)) latencies.add(nowMs - dueMs);
    },
    sent(dueMs, nowMs) {
      if (isMeasured(dueMs)) lateness.add(nowMs - dueMs);
    },
    broken() {
      brokenConnections += 1;
    },
    result: (withLateness) => ({
      answered,
      perSecond: (inTime / (measureUntilMs - measureFromMs)) * 1000,
      latency: latencies.summary(),
      lateness: withLateness ? lateness.summary() : undefined,
      statuses,
      brokenConnections,
    }),
  };
}
