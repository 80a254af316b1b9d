import type { Stop } from "./exchange.ts";
import { exchange } from "./exchange.ts";
import type { ReachContext, RequestBasics } from "./reach.ts";
import { reach } from "./reach.ts";
import type { SafeFetchResult } from "./result.ts";
import { TimingLog } from "./timing-log.ts";

/** One request to an address that a user chose. */
export type SendRequest = RequestBasics & {
  /** Wall-clock milliseconds for everything: DNS, connect, TLS, send, headers, body. */
  deadlineMs: number;
  /** Milliseconds that the body may take after the headers; then it is cut, as at the deadline. Default: no limit. */
  bodyDeadlineMs?: number;
  /** Body bytes after which reading stops. */
  maxResponseBytes: number;
};

/** One send from URL rules to result. Never rejects. */
export async function send(context: ReachContext, request: SendRequest, stop: Stop): Promise<SafeFetchResult> {
  const log = new TimingLog();
  const limits = {
    maxHeaderBytes: context.connectionLimits.maxHeaderBytes,
    maxBodyBytes: request.maxResponseBytes,
    bodyDeadlineMs: request.bodyDeadlineMs,
  };
  const reached = await reach(context, request, stop, log, (connection, dispatch) =>
    exchange(connection, dispatch, limits, stop),
  );
  if ("kind" in reached) return reached;
  const { outcome, release } = reached;
  release(outcome.kind === "response");
  if (outcome.kind === "stopped") return log.stopped(stop.reason, outcome.phase);
  if (outcome.kind === "failed") return log.failed(outcome.failure);
  const { status, headers, body, truncated } = outcome;
  return { kind: "response", status, headers, body, truncated, timings: log.done() };
}
