import type { ConnectionFailure } from "./connection-failure.ts";
import type { TargetUrlFailure } from "./target-url.ts";

/**
 * How long the phases took, in milliseconds; null for a phase that was not reached or not needed (a kept connection
 * has neither connect nor TLS). `firstByteMs` runs from handing the request over to the first byte of the response.
 * `address` is the IP connected to, `reused` says that the connection was kept from an earlier send.
 */
export type Timings = {
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  firstByteMs: number | null;
  totalMs: number;
  address: string | null;
  reused: boolean;
};

/** The phase in which a deadline ran out. */
export type Phase = "dns" | "connect" | "tls" | "send" | "headers";

/** Why a body is not whole; false when it is. */
export type Truncated = false | "size" | "deadline" | "connection" | "aborted";

/** A complete status line and header block came inside the deadline; what became of the body does not change that. */
export type FetchResponse = {
  kind: "response";
  status: number;
  headers: Record<string, string | string[]>;
  body: Buffer;
  truncated: Truncated;
  timings: Timings;
};

/** Nothing was sent and no connection made. `reason` may be shown to the customer. */
export type FetchRefused = {
  kind: "refused";
  code: "address" | "url" | "request";
  reason: string;
  url?: TargetUrlFailure;
  timings: Timings;
};

/** The deadline ran out before the header block was complete. */
export type FetchTimeout = { kind: "timeout"; phase: Phase; timings: Timings };

/** The exchange broke before the header block was complete. `message` may be shown to the customer. */
export type FetchConnectionError = {
  kind: "connection-error";
  code: ConnectionFailure;
  message: string;
  timings: Timings;
};

/** The caller's signal fired, or the owner was disposed, before the header block was complete. */
export type FetchAborted = { kind: "aborted"; timings: Timings };

/** How a send ended. Every outcome is data. */
export type SafeFetchResult = FetchResponse | FetchRefused | FetchTimeout | FetchConnectionError | FetchAborted;
