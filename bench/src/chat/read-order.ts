import type { LatencySummary } from "../statistics.ts";

export type StreamRequest = { port: number; path: string; headers: Record<string, string>; body?: string };

/** Streams to read, `concurrency` at the same time. `hold`: each stays open after its first token. */
export type ReadOrder = { requests: readonly StreamRequest[]; concurrency: number; hold?: boolean };

export type ReadResult = {
  streams: number;
  /** Failed streams by error message. */
  failures: Record<string, number>;
  /** From the request to the first token. */
  first: LatencySummary;
  /** To the last token. */
  last: LatencySummary;
  /** To the end of the response. */
  took: LatencySummary;
  /** How late each token arrived after it was sent by the model server. */
  tokens: LatencySummary;
};
