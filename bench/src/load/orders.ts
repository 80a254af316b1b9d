import type { Latency } from "../statistics.ts";

/** A POST with a JSON body. A request with a `hookSecret` is signed anew each time, and its body gets an id of its own. */
export type LoadRequest = { path: string; headers: Record<string, string>; body: string; hookSecret?: string };

export type LoadMode =
  /** As many calls at the same time as connections: each makes its next call when it has its response. */
  | { kind: "closed"; connections: number }
  /** Calls at fixed times, whether or not earlier ones have their response. */
  | { kind: "open"; perSecond: number }
  /** As "closed", by somebody who wants to do harm: with a short pause after a refusal, unless `eager`. */
  | { kind: "noisy"; connections: number; eager: boolean };

/** The requests are made in turn. */
export type LoadOrder = { port: number; requests: LoadRequest[]; mode: LoadMode; forMs: number };

export type LoadResult = {
  /** Responses of the time; a connection that broke counts as status 0. */
  statuses: Record<string, number>;
  responses: number;
  perSecond: number;
  /** In an open loop a call that has to wait for a connection is late, and its latency includes the wait. */
  latency: Latency;
};
