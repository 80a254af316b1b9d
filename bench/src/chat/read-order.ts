import type { Latency } from "../statistics.ts";

export type StreamRequest = { port: number; path: string; headers: Record<string, string> };

/** Streams to read, `concurrency` at the same time. */
export type ReadOrder = { requests: readonly StreamRequest[]; concurrency: number };

export type ReadResult = {
  /** Failed streams by error message. */
  failures: Record<string, number>;
  /** From the request to the first token. */
  first: Latency;
  /** How late each token arrived after it was sent by the model server. */
  tokens: Latency;
};
