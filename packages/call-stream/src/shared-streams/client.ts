import { setTimeout as delay } from "node:timers/promises";
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { type AddressResolver, watchAddresses } from "../addresses.ts";
import type { ErrorListener } from "../failure.ts";
import { DEFAULT_RESOLVE_EVERY_MS } from "../limits.ts";
import { SharedConnection, type SharedStreamMethod } from "./connection.ts";
import { WAIT_FOR_CONNECTION_MS } from "./limits.ts";
import { Subscription } from "./subscription.ts";

interface SharedStreamsOptions {
  /** Carries the streams. */
  method: SharedStreamMethod;
  /** Base URLs, one per server process. */
  addresses: AddressResolver;
  /** A transport with a connection of its own, disposed when the stream on it ends. Usually `streamTransport`. */
  transportFor: (address: string) => Transport & Partial<Disposable>;
  reconnect: { minMs: number; maxMs: number };
  onError: ErrorListener;
}

interface SharedCallOptions {
  /** Of the user; empty: none. */
  principal: string;
  signal?: AbortSignal | undefined;
}

/** One RPC that responds with a stream. */
interface StreamedMethod<I extends DescMessage, O extends DescMessage> {
  name: string;
  input: I;
  output: O;
}

/** Streams of RPCs over one connection per server process. Disposing ends them with `unavailable`. */
export interface SharedStreams extends AsyncDisposable {
  /**
   * Calls an RPC that responds with a stream. A server that reads a slow caller's messages stops after 256 KiB. Rejects
   * with `unavailable` when the connection is lost, or when there is none within 5 s; otherwise as the RPC does.
   */
  open<I extends DescMessage, O extends DescMessage>(
    method: StreamedMethod<I, O>,
    request: MessageInitShape<I>,
    options: SharedCallOptions,
  ): AsyncIterable<MessageShape<O>>;
}

/** Connects with the first stream. */
export function createSharedStreams(options: SharedStreamsOptions): SharedStreams {
  const { method, addresses, transportFor, reconnect, onError } = options;
  const links = new Map<string, AbortController>();
  const connections = new Map<SharedConnection, Promise<unknown>>();
  const waiting = new Set<Subscription<unknown>>();
  let ready: SharedConnection[] = [];
  let watch: ReturnType<typeof watchAddresses> | undefined;
  let closed = false;

  function follow(found: ReadonlySet<string>): void {
    for (const [address, link] of links) {
      if (found.has(address)) continue;
      links.delete(address);
      link.abort();
    }
    for (const address of found) {
      if (links.has(address)) continue;
      const link = new AbortController();
      links.set(address, link);
      void keepOpen(address, link.signal);
    }
  }

  async function keepOpen(address: string, retired: AbortSignal): Promise<void> {
    let waitMs = reconnect.minMs;
    while (!retired.aborted) {
      const startedMs = performance.now();
      await untilDown(address, retired);
      waitMs =
        performance.now() - startedMs > reconnect.maxMs ? reconnect.minMs : Math.min(reconnect.maxMs, waitMs * 2);
      void watch?.refresh();
      await delay(waitMs, undefined, { signal: retired }).catch(() => {});
    }
  }

  /** Opens a connection, and resolves when it takes no more streams. */
  function untilDown(address: string, retired: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const onDown = () => {
        retired.removeEventListener("abort", onDown);
        ready = ready.filter((other) => other !== connection);
        resolve();
      };
      const onUp = () => {
        if (retired.aborted) return;
        ready.push(connection);
        for (const subscription of waiting) connection.send(subscription);
        waiting.clear();
      };
      const connection = new SharedConnection({ method, transport: transportFor(address), onUp, onDown });
      retired.addEventListener("abort", onDown);
      const ended = connection.run().then((error) => {
        connections.delete(connection);
        if (error && !closed) onError(new ConnectError(`stream to ${address}: ${error.rawMessage}`, error.code));
      });
      connections.set(connection, ended);
    });
  }

  /** The least busy one. */
  function choose(): SharedConnection | undefined {
    let chosen = ready[0];
    for (const connection of ready) if (chosen && connection.size < chosen.size) chosen = connection;
    return chosen;
  }

  function begin(subscription: Subscription<unknown>): void {
    watch ??= startWatching();
    const connection = choose();
    if (connection) {
      connection.send(subscription);
      return;
    }
    waiting.add(subscription);
    setTimeout(() => {
      if (waiting.delete(subscription)) subscription.end(new ConnectError("no server is reachable", Code.Unavailable));
    }, WAIT_FOR_CONNECTION_MS);
  }

  function startWatching() {
    const started = watchAddresses(addresses, DEFAULT_RESOLVE_EVERY_MS, follow, onError);
    void started.refresh();
    return started;
  }

  return {
    open({ name, input, output }, request, { principal, signal }) {
      if (closed) throw new ConnectError("the client is closed", Code.Unavailable);
      signal?.throwIfAborted();
      const bytes = toBinary(input, create(input, request));
      const call = { rpc: name, request: bytes, principal, signal };
      const subscription = new Subscription(call, (message) => fromBinary(output, message));
      begin(subscription);
      return subscription;
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      watch?.close();
      for (const link of links.values()) link.abort();
      for (const connection of connections.keys()) connection.close("the client is closed");
      await Promise.all(connections.values());
    },
  };
}
