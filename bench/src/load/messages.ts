import type { LatencySummary } from "../statistics.ts";

/** What the generator is to call; it takes the secrets in turn. */
export type LoadTarget = { port: number; path: string; body: string; secrets: string[] };

export type LoadMode =
  /** This many callers, each of which calls again when it has its answer. */
  | { kind: "closed"; concurrency: number }
  /** Calls at fixed times, whether earlier ones are answered or not. */
  | { kind: "open"; perSecond: number };

export type LoadOrder = { target: LoadTarget; mode: LoadMode; warmUpMs: number; measureMs: number };

export type LoadResult = {
  /** Calls that got an answer, the warm-up included. */
  answered: number;
  /** Calls per second of the measured time. */
  perSecond: number;
  /** Of the measured time; of an open loop from the time at which the call was due, so that a stall counts fully. */
  latency: LatencySummary;
  /** Open loop: how long after its due time a call was written to a socket. */
  lateness: LatencySummary | undefined;
  /** Answers by status code, the warm-up included. */
  statuses: Record<string, number>;
  brokenConnections: number;
};
