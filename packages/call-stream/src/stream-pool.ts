import { setTimeout as delay } from "node:timers/promises";
import type { Transport } from "@connectrpc/connect";
import { ConnectError } from "@connectrpc/connect";
import { callStreamsLost, callStreamsOpened } from "@toolgate/telemetry/instruments";
import type { AddressResolver } from "./addresses.ts";
import { watchAddresses } from "./addresses.ts";
import type { StreamCaller } from "./caller.ts";
import type { ErrorListener } from "./failure.ts";
import { CLOSE_GRACE_MS } from "./limits.ts";
import type { StreamConnectionOptions, StreamMethod } from "./stream-connection.ts";
import { StreamConnection } from "./stream-connection.ts";

/** Waits between attempts: they double from `minMs` to `maxMs`, with jitter. */
export type Reconnect = { readonly minMs: number; readonly maxMs: number };

/** A process that has not been up so far may be starting for this long: nothing is wrong until then. */
const START_MS = 30_000;

/** What is known about the streams to one address. */
interface Link {
  onUp(): void;
  isStarting(): boolean;
}

type StreamPoolOptions<O> = Omit<StreamConnectionOptions<O>, "transport" | "onUp" | "onDown"> & {
  readonly addresses: AddressResolver;
  readonly resolveEveryMs: number;
  readonly transportFor: (address: string) => Transport & Partial<Disposable>;
  readonly reconnect: Reconnect;
  /** A stream has come up. */
  readonly onUp: () => void;
  /** Calls that a stream returns unsent; they can go to another one. */
  readonly onUnsent: (callers: StreamCaller<O>[]) => void;
  /** A stream or a lookup of the addresses failed; the pool tries again. */
  readonly onError: ErrorListener;
};

/** One stream per server address, each opened again when it ends, and the choice between those that are up. */
export class StreamPool<O> {
  readonly #options: StreamPoolOptions<O>;
  readonly #addresses: ReturnType<typeof watchAddresses>;
  /** A controller per address that is listed; aborting it retires the address. */
  readonly #links = new Map<string, AbortController>();
  readonly #connections = new Map<StreamConnection<O>, Promise<void>>();
  #ready: StreamConnection<O>[] = [];
  #closed = false;

  constructor(options: StreamPoolOptions<O>) {
    this.#options = options;
    this.#addresses = watchAddresses(
      options.addresses,
      options.resolveEveryMs,
      (addresses) => this.#follow(addresses),
      options.onError,
    );
    void this.#addresses.refresh();
  }

  /** The one with fewer open calls of two streams picked at random, or nothing while no stream is up. */
  choose(): StreamConnection<O> | undefined {
    const count = this.#ready.length;
    if (count < 2) return this.#ready[0];
    const first = Math.floor(Math.random() * count);
    const second = (first + 1 + Math.floor(Math.random() * (count - 1))) % count;
    const [a, b] = [this.#ready[first], this.#ready[second]];
    if (a === undefined || b === undefined) return a ?? b;
    return b.inFlight < a.inFlight ? b : a;
  }

  /** Ends all streams: cleanly, or after 500 ms by force. Calls that are still open fail. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#addresses.close();
    for (const link of this.#links.values()) link.abort();
    for (const connection of this.#connections.keys()) connection.leave();
    const forceEnd = setTimeout(() => {
      for (const connection of this.#connections.keys()) connection.abort("the client is closed");
    }, CLOSE_GRACE_MS);
    await Promise.all(this.#connections.values());
    clearTimeout(forceEnd);
  }

  #follow(addresses: ReadonlySet<string>): void {
    for (const [address, link] of this.#links) {
      if (!addresses.has(address)) {
        this.#links.delete(address);
        link.abort();
      }
    }
    for (const address of addresses) {
      if (this.#links.has(address)) continue;
      const link = new AbortController();
      this.#links.set(address, link);
      void this.#keepOpen(address, link.signal);
    }
  }

  async #keepOpen(address: string, retired: AbortSignal): Promise<void> {
    const { reconnect } = this.#options;
    let failures = 0;
    let hasBeenUp = false;
    const firstMs = performance.now();
    const link = {
      onUp: () => (hasBeenUp = true),
      isStarting: () => !hasBeenUp && performance.now() - firstMs < START_MS,
    };
    while (!retired.aborted) {
      const startedMs = performance.now();
      await this.#openOnce(address, retired, link);
      if (retired.aborted) return;
      // A stream that lasted was healthy, so the waits start short again.
      const lasted = performance.now() - startedMs > reconnect.maxMs;
      failures = lasted ? 0 : failures + 1;
      void this.#addresses.refresh();
      // The server may only want another stream, so one attempt comes at once, and no call waits for the pause.
      if (lasted) continue;
      await delay(backoffMs(reconnect, failures), undefined, { signal: retired }).catch(() => undefined);
    }
  }

  /** Opens a stream and resolves when it takes no more calls; its open calls may take longer. */
  #openOnce(address: string, retired: AbortSignal, link: Link): Promise<void> {
    return new Promise((resolve) => {
      const transport = this.#transportFor(address);
      if (transport === undefined) {
        resolve();
        return;
      }
      const connection: StreamConnection<O> = new StreamConnection({
        ...this.#options,
        transport,
        onUp: () => {
          callStreamsOpened.add(1, { rpc: rpcOf(this.#options.streamMethod) });
          link.onUp();
          this.#ready.push(connection);
          this.#options.onUp();
        },
        onDown: (unsent) => {
          retired.removeEventListener("abort", leave);
          this.#ready = this.#ready.filter((ready) => ready !== connection);
          this.#options.onUnsent(unsent);
          resolve();
        },
      });
      const leave = () => connection.leave();
      retired.addEventListener("abort", leave);
      this.#connections.set(connection, this.#runToEnd(connection, address, link));
    });
  }

  async #runToEnd(connection: StreamConnection<O>, address: string, link: Link): Promise<void> {
    const error = await connection.run();
    this.#connections.delete(connection);
    if (error !== undefined && !this.#closed) {
      callStreamsLost.add(1, { rpc: rpcOf(this.#options.streamMethod) });
      if (link.isStarting() && error.rawMessage.includes("ECONNREFUSED")) return;
      this.#options.onError(
        new ConnectError(`call stream to ${address}: ${error.rawMessage}`, error.code, undefined, undefined, error),
      );
    }
  }

  #transportFor(address: string): (Transport & Partial<Disposable>) | undefined {
    try {
      return this.#options.transportFor(address);
    } catch (error) {
      this.#options.onError(error);
      return undefined;
    }
  }
}

function backoffMs({ minMs, maxMs }: Reconnect, failures: number): number {
  const ceilingMs = Math.max(minMs, Math.min(maxMs, minMs * 2 ** (failures + 1)));
  return minMs + Math.random() * (ceilingMs - minMs);
}

function rpcOf({ parent, name }: StreamMethod): string {
  return `${parent.typeName}/${name}`;
}
