import { createSecureContext, getCACertificates } from "node:tls";
import { parseAllowList } from "./allow-list.ts";
import { IdleConnections } from "./idle-connections.ts";
import { type OpenRequest, type OpenResult, open } from "./open.ts";
import type { Resolver } from "./resolve.ts";
import type { SafeFetchResult, StopReason } from "./result.ts";
import { type SendRequest, send } from "./send.ts";
import { createSystemResolver } from "./system-resolver.ts";
import type { TargetScheme } from "./target-url.ts";

/** Idle connections kept in all; the least recently used ones are closed first. */
const MAX_IDLE_CONNECTIONS = 512;

/** What outgoing HTTP is restricted to. `allowList`: see `parseAllowList`, empty in production. */
export type SafeFetchOptions = {
  allowList: readonly string[];
  applicationHosts: readonly string[];
  schemes: readonly TargetScheme[];
  resolver?: Resolver;
  /** Certificates (PEM) that are trusted as well as the usual authorities. */
  tls?: { ca: string | readonly string[] };
  maxIdleConnections?: number;
};

/**
 * Outgoing HTTP to addresses that users choose.
 *
 * `send` repeats the URL and address checks every time, connects to a checked IP address with the original name for
 * Host, SNI and certificate, follows no redirect, decompresses nothing, uses no proxy, and keeps one wall-clock
 * deadline over everything. It never rejects. Disposing aborts what is under way and closes every connection;
 * later sends end as aborted.
 */
export type SafeFetch = AsyncDisposable & {
  send(request: SendRequest): Promise<SafeFetchResult>;
  /**
   * The same for a response that is read while it arrives, such as server-sent events. The body has to be read to its end
   * or cancelled; the signal, the deadline and disposing cut it.
   */
  open(request: OpenRequest): Promise<OpenResult>;
};

/** Makes a SafeFetch. Throws a TypeError for an allow-list entry that cannot be read. [SSRF-1..19, OUT-14, OUT-34, OUT-42] */
export function createSafeFetch(options: SafeFetchOptions): SafeFetch {
  const kept = new IdleConnections(options.maxIdleConnections ?? MAX_IDLE_CONNECTIONS);
  const context = {
    rules: { applicationHosts: options.applicationHosts, schemes: options.schemes },
    resolver: options.resolver ?? createSystemResolver(),
    allowList: parseAllowList(options.allowList),
    secureContext: createSecureContext(
      options.tls === undefined ? {} : { ca: [...getCACertificates(), ...[options.tls.ca].flat()] },
    ),
    kept,
  };
  const underWay = new Map<AbortController, Promise<unknown>>();
  let disposed = false;

  /** Arms what may stop a request; `end` disarms it. */
  const begin = ({ signal, deadlineMs }: { signal?: AbortSignal | undefined; deadlineMs: number }) => {
    const stop = new AbortController();
    const onAbort = () => stop.abort("aborted" satisfies StopReason);
    if (disposed || signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    const timer = setTimeout(() => stop.abort("deadline" satisfies StopReason), deadlineMs);
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      underWay.delete(stop);
    };
    return { stop, end };
  };

  return {
    send(request) {
      const { stop, end } = begin(request);
      const result = send(context, request, stop).finally(end);
      underWay.set(stop, result);
      return result;
    },
    open(request) {
      const { stop, end } = begin(request);
      const ended = Promise.withResolvers<void>();
      underWay.set(stop, ended.promise);
      return open(context, request, stop, () => {
        end();
        ended.resolve();
      });
    },
    async [Symbol.asyncDispose]() {
      disposed = true;
      const ending = [...underWay.values()];
      for (const stop of underWay.keys()) stop.abort("aborted" satisfies StopReason);
      await Promise.allSettled(ending);
      kept[Symbol.dispose]();
    },
  };
}
