import { BodyCollector } from "./body-collector.ts";
import { exchange } from "./exchange.ts";
import type { ReachContext, RequestBasics } from "./reach.ts";
import { reach } from "./reach.ts";
import type { SafeFetchResult, Truncated } from "./result.ts";
import type { Stop } from "./stop.ts";
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
  const { bodyDeadlineMs, maxResponseBytes: maxBodyBytes } = request;
  const log = new TimingLog();
  const limits = { maxHeaderBytes: context.connectionLimits.maxHeaderBytes, maxBodyBytes };
  const body = new BodyCollector();
  const ended = Promise.withResolvers<Truncated>();
  let bodyTimer: NodeJS.Timeout | undefined;
  const reached = await reach(context, request, stop, log, (connection, dispatch, release) =>
    exchange(connection, dispatch, limits, stop, {
      onHead() {
        if (bodyDeadlineMs !== undefined) bodyTimer = setTimeout(() => stop.fire("deadline"), bodyDeadlineMs);
      },
      onData(chunk) {
        body.push(chunk);
        return true;
      },
      onEnd(truncated) {
        clearTimeout(bodyTimer);
        if (truncated === false) release();
        ended.resolve(truncated);
      },
    }),
  );
  if (reached.kind !== "response") return reached;
  const truncated = await ended.promise;
  return { ...reached, body: body.bytes(), truncated, timings: log.done() };
}
