import type { SecureContext } from "node:tls";
import type { Dispatcher } from "undici";
import type { AllowList } from "./allow-list.ts";
import { connectPinned } from "./connect.ts";
import { Connection, type ConnectionLimits } from "./connection.ts";
import type { IdleConnections } from "./idle-connections.ts";
import type { Progress } from "./progress.ts";
import { type FetchMethod, refuseRequest } from "./request-rules.ts";
import { checkTarget, literalAddress, type Resolver } from "./resolve.ts";
import type { FetchFailure } from "./result.ts";
import { parseTargetUrl, type TargetRules, type TargetUrl } from "./target-url.ts";

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
  /** Body bytes after which reading stops. */
  maxResponseBytes: number;
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

/** A response whose body is still to be read to its end, or given up. */
type Reached = {
  kind: "response";
  status: number;
  headers: Record<string, string | string[]>;
  body: Dispatcher.ResponseData["body"];
  giveUp: () => void;
};

/**
 * From URL rules to the head of a response: parses, resolves and checks, connects to a checked address, and sends; over
 * another connection when a kept one turns out to be closed. Never rejects. `onConnected`: the request is about to be sent.
 */
export async function reach(
  context: ReachContext,
  request: RequestBasics,
  signal: AbortSignal,
  progress: Progress,
  onConnected?: () => void,
): Promise<Reached | FetchFailure> {
  const { rules } = context;
  const refuse = (code: "address" | "url" | "request", reason: string) =>
    ({ kind: "refused", code, reason, timings: progress.done() }) as const;
  const refusal = refuseRequest(request.method, request.headers);
  if (refusal !== undefined) return refuse("request", refusal);
  const target = parseTargetUrl(request.url, rules);
  if (!target.ok) return { ...refuse("url", "target URL not allowed"), url: target.reason };
  const checked = await checkTarget(target, { ...context, workspaceId: request.workspaceId, signal });
  if (literalAddress(target.host) === undefined) progress.timings.dnsMs = progress.elapsedMs();
  if (!checked.ok && checked.reason === "blocked") return refuse("address", ADDRESS_NOT_ALLOWED);
  if (!checked.ok) return progress.failed(undefined, signal);
  try {
    return await exchange(context, request, target, checked.addresses, signal, progress, onConnected);
  } catch (error) {
    return progress.failed(error, signal);
  }
}

async function exchange(
  context: ReachContext,
  request: RequestBasics,
  target: TargetUrl,
  addresses: readonly string[],
  signal: AbortSignal,
  progress: Progress,
  onConnected?: () => void,
): Promise<Reached> {
  const { secureContext, connectionLimits } = context;
  const { reuseKey } = request;
  const key = reuseKey === undefined ? undefined : `${target.url.origin} ${reuseKey}`;
  for (let attempt = 0; ; attempt++) {
    const kept = key === undefined || attempt >= MAX_STALE_CONNECTIONS ? undefined : context.kept.take(key, addresses);
    let connection = kept;
    if (connection === undefined) {
      const { socket, address } = await connectPinned(target, addresses, secureContext, signal, progress);
      connection = new Connection(target.url.origin, address, socket, connectionLimits);
    }
    const used = connection;
    progress.timings.address = used.address;
    progress.timings.reused = kept !== undefined;
    onConnected?.();
    const before = used.traffic();
    try {
      const response = await used.request(toOptions(request, target), request.maxResponseBytes, signal, progress);
      response.body.once("end", () => {
        if (key === undefined) used.close();
        else if (!used.isSending()) context.kept.put(key, used);
        else setImmediate(keepUnlessSending, context.kept, key, used);
      });
      const giveUp = () => {
        response.body.destroy();
        used.close();
      };
      return { kind: "response", ...response, giveUp };
    } catch (error) {
      used.close();
      if (kept === undefined || signal.aborted || !mayRepeat(before, used.traffic(), request)) throw error;
    }
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

function toOptions(request: RequestBasics, { url }: TargetUrl): Dispatcher.RequestOptions {
  return {
    path: url.pathname + url.search,
    method: request.method,
    headers: request.headers,
    body: request.body ?? null,
    ...(request.reuseKey === undefined ? { reset: true } : {}),
  };
}

type Traffic = ReturnType<Connection["traffic"]>;

/** A request that was not written may be sent again; one that was, only if the caller allows it and no byte came back. */
function mayRepeat(before: Traffic, after: Traffic, request: RequestBasics): boolean {
  if (after.read > before.read) return false;
  return (
    after.written === before.written || (request.repeatable ?? ["GET", "HEAD", "OPTIONS"].includes(request.method))
  );
}
