import { type LatencySummary, summarise } from "../statistics.ts";

/** What the generator is to call; it takes the secrets, or the hooks, in turn. */
export type LoadTarget = KeyTarget | HookTarget;
/** The same call of a tool every time. */
export type KeyTarget = { port: number; path: string; body: string; secrets: string[]; headers?: string[] };
/** Calls of hooks in the native format, each with a body of its own. */
export type HookTarget = { port: number; hooks: { path: string; secret: string }[] };

export type LoadMode =
  /** This many callers, each of which makes its next call when it has its response. */
  | { kind: "closed"; concurrency: number }
  /** Calls at fixed times, whether or not earlier ones have their response. */
  | { kind: "open"; perSecond: number };

export type LoadOrder = {
  target: LoadTarget;
  mode: LoadMode;
  warmUpMs: number;
  measureMs: number;
};

export type LoadResult = {
  /** Calls that got a response, the warm-up included. */
  responses: number;
  /** Calls per second of the measured time. */
  perSecond: number;
  /**
   * Of the calls in the measured time. In an open loop it counts from the time at which a call was due, so that a stall
   * counts fully.
   */
  latency: LatencySummary;
  /** Responses by status code, the warm-up included. */
  statuses: Record<string, number>;
  brokenConnections: number;
};

/**
 * Collects what a loop sees. Calls due between the two times (monotonic) count for throughput and latency; all count for
 * the number of responses.
 */
export function createScore(measureFromMs: number, measureUntilMs: number) {
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  let responses = 0;
  let inTime = 0;
  let brokenConnections = 0;
  const isMeasured = (ms: number) => ms >= measureFromMs && ms < measureUntilMs;
  return {
    responded(status: number, dueMs: number, nowMs: number) {
      responses += 1;
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (isMeasured(nowMs)) inTime += 1;
      if (isMeasured(dueMs)) latencies.push(nowMs - dueMs);
    },
    broken() {
      brokenConnections += 1;
    },
    result: (): LoadResult => ({
      responses,
      perSecond: (inTime / (measureUntilMs - measureFromMs)) * 1000,
      latency: summarise(latencies),
      statuses,
      brokenConnections,
    }),
  };
}
