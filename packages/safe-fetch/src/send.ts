import { performance } from "node:perf_hooks";
import type { SecureContext } from "node:tls";
import type { AllowList } from "./allow-list.ts";
import { connectPinned } from "./connect.ts";
import type { ConnectionLimits } from "./connection.ts";
import { Connection } from "./connection.ts";
import type { ExchangeOutcome, Stop } from "./exchange.ts";
import { exchange } from "./exchange.ts";
import type { IdleConnections } from "./idle-connections.ts";
import type { FetchMethod } from "./request-rules.ts";
import { refuseRequest } from "./request-rules.ts";
import type { Resolver } from "./resolve.ts";
import { checkTarget, literalAddress } from "./resolve.ts";
import type { ConnectionFailure, Phase, SafeFetchResult, Timings } from "./result.ts";
import { failureMessage } from "./result.ts";
import type { TargetRules, TargetUrl } from "./target-url.ts";
import { parseTargetUrl } from "./target-url.ts";

/** How many kept connections one send may find closed before it opens its own. */
const MAX_STALE_CONNECTIONS = 3;

/** What a customer may be told when the address check refuses. [SSRF] */
const ADDRESS_NOT_ALLOWED = "target address not allowed";

/** One request to an address that a user chose. */
export type SendRequest = {
  url: string;
  method: FetchMethod;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Wall-clock milliseconds for everything: DNS, connect, TLS, send, headers, body. */
  deadlineMs: number;
  /** Body bytes after which reading stops. */
  maxResponseBytes: number;
  /** Sends with the same key may follow each other on one connection; without a key the connection is used once. */
  reuseKey?: string;
  /**
   * Whether the request may be sent a second time when a kept connection turns out to have been closed by the other
   * side before it responded. Default: GET, HEAD and OPTIONS only.
   */
  repeatable?: boolean;
  signal?: AbortSignal | undefined;
};

type SendContext = {
  rules: TargetRules;
  resolver: Resolver;
  allowList: AllowList;
  secureContext: SecureContext;
  kept: IdleConnections;
  connectionLimits: ConnectionLimits;
};

/** One send from URL rules to result: parse, resolve and check, connect to a checked address, exchange. Never rejects. */
export async function send(context: SendContext, request: SendRequest, stop: Stop): Promise<SafeFetchResult> {
  const log = new TimingLog();
  const refusal = refuseRequest(request.method, request.headers);
  if (refusal !== undefined) return { kind: "refused", code: "request", reason: refusal, timings: log.done() };
  const target = parseTargetUrl(request.url, context.rules);
  if (!target.ok) {
    return { kind: "refused", code: "url", reason: "target URL not allowed", url: target.reason, timings: log.done() };
  }
  const checked = await stop.before(checkTarget(target, context));
  if (literalAddress(target.host) === undefined) log.timings.dnsMs = log.elapsedMs();
  if (checked === undefined || (!checked.ok && checked.reason === "aborted")) return stopped(stop, "dns", log);
  if (checked.ok) return await sendTo(context, request, target, checked.addresses, stop, log);
  if (checked.reason === "unresolvable") return failed("dns", log);
  return { kind: "refused", code: "address", reason: ADDRESS_NOT_ALLOWED, timings: log.done() };
}

async function sendTo(
  context: SendContext,
  request: SendRequest,
  target: TargetUrl,
  addresses: readonly string[],
  stop: Stop,
  log: TimingLog,
): Promise<SafeFetchResult> {
  const { reuseKey } = request;
  const key = reuseKey === undefined ? undefined : `${target.url.origin} ${reuseKey}`;
  for (let attempt = 0; ; attempt++) {
    const kept = key === undefined || attempt >= MAX_STALE_CONNECTIONS ? undefined : context.kept.take(key, addresses);
    const opened = kept ?? (await open(context, target, addresses, stop, log));
    if (!(opened instanceof Connection)) return opened;
    log.timings.address = opened.address;
    log.timings.reused = kept !== undefined;

    const outcome = await exchange(opened, toDispatch(request, target), limitsOf(context, request), stop);
    log.timings.firstByteMs = outcome.firstByteMs;
    if (kept !== undefined && mayRepeat(outcome, request) && stop.reason === undefined) continue;
    if (key !== undefined && outcome.kind === "response" && !opened.isSending()) context.kept.put(key, opened);
    else opened.close();
    return toResult(outcome, stop, log);
  }
}

async function open(
  context: SendContext,
  target: TargetUrl,
  addresses: readonly string[],
  stop: Stop,
  log: TimingLog,
): Promise<Connection | SafeFetchResult> {
  const outcome = await connectPinned(target, addresses, context.secureContext, stop);
  log.timings.address = outcome.address;
  log.timings.connectMs = outcome.connectMs;
  log.timings.tlsMs = outcome.tlsMs;
  if (outcome.kind === "stopped") return stopped(stop, outcome.phase, log);
  if (outcome.kind === "failed") return failed(outcome.failure, log);
  return new Connection(target.url.origin, outcome.address ?? "", outcome.socket, context.connectionLimits);
}

function toDispatch(request: SendRequest, { url }: TargetUrl) {
  return {
    path: url.pathname + url.search,
    method: request.method,
    headers: request.headers,
    body: request.body ?? null,
    ...(request.reuseKey === undefined ? { reset: true } : {}),
  };
}

function limitsOf(context: SendContext, request: SendRequest) {
  return { maxHeaderBytes: context.connectionLimits.maxHeaderBytes, maxBodyBytes: request.maxResponseBytes };
}

/** A request that was not written may be sent again; one that was, only if the caller allows it and no byte came back. */
function mayRepeat(outcome: ExchangeOutcome, request: SendRequest): boolean {
  if (outcome.kind !== "failed" || outcome.responseBegan) return false;
  return !outcome.written || (request.repeatable ?? ["GET", "HEAD", "OPTIONS"].includes(request.method));
}

function toResult(outcome: ExchangeOutcome, stop: Stop, log: TimingLog): SafeFetchResult {
  if (outcome.kind === "stopped") return stopped(stop, outcome.phase, log);
  if (outcome.kind === "failed") return failed(outcome.failure, log);
  const { status, headers, body, truncated } = outcome;
  return { kind: "response", status, headers, body, truncated, timings: log.done() };
}

function stopped(stop: Stop, phase: Phase, log: TimingLog): SafeFetchResult {
  const timings = log.done();
  return stop.reason === "deadline" ? { kind: "timeout", phase, timings } : { kind: "aborted", timings };
}

function failed(code: ConnectionFailure, log: TimingLog): SafeFetchResult {
  return { kind: "connection-error", code, message: failureMessage(code), timings: log.done() };
}

class TimingLog {
  readonly #began = performance.now();
  readonly timings: Timings = {
    dnsMs: null,
    connectMs: null,
    tlsMs: null,
    firstByteMs: null,
    totalMs: 0,
    address: null,
    reused: false,
  };

  elapsedMs(): number {
    return performance.now() - this.#began;
  }

  done(): Timings {
    this.timings.totalMs = this.elapsedMs();
    return this.timings;
  }
}
