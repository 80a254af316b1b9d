import type { SecureContext } from "node:tls";
import type { Dispatcher } from "undici";
import type { AllowList } from "./allow-list.ts";
import { connectPinned } from "./connect.ts";
import type { Connection } from "./connection.ts";
import type { IdleConnections } from "./idle-connections.ts";
import type { Progress } from "./progress.ts";
import { type FetchMethod, refuseRequest } from "./request-rules.ts";
import { checkTarget, literalAddress, type Resolver } from "./resolve.ts";
import type { FetchFailure } from "./result.ts";
import { parseTargetUrl, type TargetRules, type TargetUrl } from "./target-url.ts";

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
  /**
   * Requests with the same key may follow each other on one connection; without a key the connection is used once. Only for
   * requests that may be repeated: one is sent again when a kept connection turns out to have been closed by the other side
   * before a byte of the response came.
   */
  reuseKey?: string;
  signal?: AbortSignal | undefined;
};

export type ReachContext = {
  rules: TargetRules;
  resolver: Resolver;
  allowList: AllowList;
  secureContext: SecureContext;
  kept: IdleConnections;
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
  const checked = await checkTarget(target, {
    ...context,
    workspaceId: request.workspaceId,
    signal: progress.signal,
  });
  if (literalAddress(target.host) === undefined) progress.timings.dnsMs = progress.elapsedMs();
  if (!checked.ok && checked.reason === "blocked") return refuse("address", ADDRESS_NOT_ALLOWED);
  if (!checked.ok) return progress.failed(undefined);
  const exchange: Exchange = { context, request, target, progress, onConnected };
  try {
    return await sendTo(checked.addresses, exchange);
  } catch (error) {
    return progress.failed(error);
  }
}

/** A request whose target has been checked. */
type Exchange = {
  context: ReachContext;
  request: RequestBasics;
  target: TargetUrl;
  progress: Progress;
  onConnected: (() => void) | undefined;
};

async function sendTo(addresses: readonly string[], exchange: Exchange): Promise<Reached> {
  const { context, request, target, progress } = exchange;
  const key = request.reuseKey === undefined ? undefined : `${target.url.origin} ${request.reuseKey}`;
  const kept = key === undefined ? undefined : context.kept.take(key, addresses);
  if (kept) {
    progress.timings.reused = true;
    const readBefore = kept.bytesRead();
    try {
      return await sendOver(kept, key, exchange);
    } catch (error) {
      if (progress.signal.aborted || kept.bytesRead() > readBefore) throw error;
      progress.timings.reused = false;
    }
  }
  return sendOver(await connectPinned(target, addresses, context.secureContext, progress), key, exchange);
}

async function sendOver(
  connection: Connection,
  key: string | undefined,
  { context, request, target, progress, onConnected }: Exchange,
): Promise<Reached> {
  progress.timings.address = connection.address;
  onConnected?.();
  try {
    const response = await connection.request(toOptions(request, target), request.maxResponseBytes, progress);
    response.body.once("end", () => {
      if (key === undefined) connection.close();
      else if (!connection.isSending()) context.kept.put(key, connection);
      else setImmediate(keepUnlessSending, context.kept, key, connection);
    });
    const giveUp = () => {
      response.body.destroy();
      connection.close();
    };
    return { kind: "response", ...response, giveUp };
  } catch (error) {
    connection.close();
    throw error;
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
