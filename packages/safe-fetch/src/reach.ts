import type { SecureContext } from "node:tls";
import type { Dispatcher } from "undici";
import type { AllowList } from "./allow-list.ts";
import { connectPinned } from "./connect.ts";
import type { ConnectionLimits } from "./connection.ts";
import { Connection } from "./connection.ts";
import type { ExchangeOutcome, ResponseHead } from "./exchange.ts";
import type { IdleConnections } from "./idle-connections.ts";
import type { FetchMethod } from "./request-rules.ts";
import { refuseRequest } from "./request-rules.ts";
import type { Resolver } from "./resolve.ts";
import { checkTarget, literalAddress } from "./resolve.ts";
import type { FetchFailure } from "./result.ts";
import type { Stop } from "./stop.ts";
import type { TargetRules, TargetUrl } from "./target-url.ts";
import { parseTargetUrl } from "./target-url.ts";
import type { TimingLog } from "./timing-log.ts";

/** How many kept connections one request may find closed before it opens its own. */
const MAX_STALE_CONNECTIONS = 3;

/** What a customer may be told when the address check refuses. [SSRF] */
const ADDRESS_NOT_ALLOWED = "target address not allowed";

/** What a request to an address that a user chose says, however its response is read. */
export type RequestBasics = {
  url: string;
  method: FetchMethod;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Whose request it is: looking up its host may have to wait for other lookups of this workspace, and for no others. */
  workspaceId: string;
  /** Requests with the same key may follow each other on one connection; without a key the connection is used once. */
  reuseKey?: string;
  /**
   * Whether the request may be sent a second time when a kept connection turns out to have been closed by the other
   * side before it responded. Default: GET, HEAD and OPTIONS only.
   */
  repeatable?: boolean;
  signal?: AbortSignal | undefined;
};

export type ReachContext = {
  rules: TargetRules;
  resolver: Resolver;
  allowList: AllowList;
  secureContext: SecureContext;
  kept: IdleConnections;
  connectionLimits: ConnectionLimits;
};

/** `release` keeps the connection for a later request if it may; to be called when the body was read to its end. */
type Exchange = (
  connection: Connection,
  request: Dispatcher.DispatchOptions,
  release: () => void,
) => Promise<ExchangeOutcome>;

type Reached = ({ kind: "response" } & ResponseHead) | FetchFailure;

/**
 * From URL rules to an exchange: parses, resolves and checks, connects to a checked address, and exchanges; over another
 * connection when a kept one turns out to be closed. Never rejects.
 */
export async function reach(
  context: ReachContext,
  request: RequestBasics,
  stop: Stop,
  log: TimingLog,
  exchange: Exchange,
): Promise<Reached> {
  const refusal = refuseRequest(request.method, request.headers);
  if (refusal !== undefined) return { kind: "refused", code: "request", reason: refusal, timings: log.done() };
  const target = parseTargetUrl(request.url, context.rules);
  if (!target.ok) {
    return { kind: "refused", code: "url", reason: "target URL not allowed", url: target.reason, timings: log.done() };
  }
  const checked = await stop.before(checkTarget(target, { ...context, workspaceId: request.workspaceId }));
  if (literalAddress(target.host) === undefined) log.timings.dnsMs = log.elapsedMs();
  if (checked === undefined || (!checked.ok && checked.reason === "aborted")) return log.stopped(stop.reason, "dns");
  if (checked.ok) return await exchangeWith(context, request, target, checked.addresses, stop, log, exchange);
  if (checked.reason === "unresolvable") return log.failed("dns");
  return { kind: "refused", code: "address", reason: ADDRESS_NOT_ALLOWED, timings: log.done() };
}

async function exchangeWith(
  context: ReachContext,
  request: RequestBasics,
  target: TargetUrl,
  addresses: readonly string[],
  stop: Stop,
  log: TimingLog,
  exchange: Exchange,
): Promise<Reached> {
  const { reuseKey } = request;
  const key = reuseKey === undefined ? undefined : `${target.url.origin} ${reuseKey}`;
  for (let attempt = 0; ; attempt++) {
    const kept = key === undefined || attempt >= MAX_STALE_CONNECTIONS ? undefined : context.kept.take(key, addresses);
    const connection = kept ?? (await open(context, target, addresses, stop, log));
    if (!(connection instanceof Connection)) return connection;
    log.timings.address = connection.address;
    log.timings.reused = kept !== undefined;

    const release = () => {
      if (key === undefined) connection.close();
      else if (!connection.isSending()) context.kept.put(key, connection);
      else setImmediate(keepUnlessSending, context.kept, key, connection);
    };
    const outcome = await exchange(connection, toDispatch(request, target), release);
    log.timings.firstByteMs = outcome.firstByteMs;
    if (kept !== undefined && mayRepeat(outcome, request) && stop.reason === undefined) continue;
    if (outcome.kind === "failed") return log.failed(outcome.failure);
    if (outcome.kind === "stopped") return log.stopped(stop.reason, outcome.phase);
    const { status, headers } = outcome;
    return { kind: "response", status, headers };
  }
}

/**
 * On a busy machine a response is often read before Node has reported that the request is sent. It has when the next pass of
 * the event loop begins, unless the response really came too early: then the connection cannot be used again.
 */
function keepUnlessSending(kept: IdleConnections, key: string, connection: Connection): void {
  if (connection.isSending()) connection.close();
  else kept.put(key, connection);
}

async function open(
  context: ReachContext,
  target: TargetUrl,
  addresses: readonly string[],
  stop: Stop,
  log: TimingLog,
): Promise<Connection | FetchFailure> {
  const outcome = await connectPinned(target, addresses, context.secureContext, stop);
  log.timings.address = outcome.address;
  log.timings.connectMs = outcome.connectMs;
  log.timings.tlsMs = outcome.tlsMs;
  if (outcome.kind === "stopped") return log.stopped(stop.reason, outcome.phase);
  if (outcome.kind === "failed") return log.failed(outcome.failure);
  return new Connection(target.url.origin, outcome.address ?? "", outcome.socket, context.connectionLimits);
}

function toDispatch(request: RequestBasics, { url }: TargetUrl): Dispatcher.DispatchOptions {
  return {
    path: url.pathname + url.search,
    method: request.method,
    headers: request.headers,
    body: request.body ?? null,
    ...(request.reuseKey === undefined ? { reset: true } : {}),
  };
}

/** A request that was not written may be sent again; one that was, only if the caller allows it and no byte came back. */
function mayRepeat(outcome: ExchangeOutcome, request: RequestBasics): boolean {
  if (outcome.kind !== "failed" || outcome.responseBegan) return false;
  return !outcome.written || (request.repeatable ?? ["GET", "HEAD", "OPTIONS"].includes(request.method));
}
