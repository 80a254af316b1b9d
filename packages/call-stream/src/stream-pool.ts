import { setTimeout as delay } from "node:timers/promises";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { callStreamsLost, callStreamsOpened } from "@toolgate/telemetry/instruments";
import type { ErrorListener } from "./call.ts";
import { StreamConnection, type StreamMethod } from "./stream-connection.ts";

/** Finds the base URLs of the servers, one per process, such as the pods behind a headless Service. */
export type AddressResolver = () => Promise<readonly string[]> | readonly string[];

export interface StreamPoolOptions<O> {
  /** The bidirectional RPC that carries the calls. */
  readonly streamMethod: StreamMethod;
  readonly addresses: AddressResolver;
  /** A transport for one stream to an address, disposed when the stream ends. */
  readonly transportFor: (address: string) => Transport & Disposable;
  readonly decode: (response: Uint8Array) => O;
  /** A stream has come up. */
  readonly onUp: () => void;
  /** Why there is no stream any more, once for each reason, or a lookup of the addresses failed. The pool tries again. */
  readonly onError: ErrorListener;
  /** Time between two lookups, and the longest that one may take. A stream that ends starts one too. */
  readonly lookEveryMs?: number;
}

/** The stream to one address. */
interface Link<O> {
  readonly sinceMs: number;
  /** The newest one, until it takes no more calls. */
  connection?: StreamConnection<O> | undefined;
  hasBeenUp: boolean;
  /** Why there is no stream, if that has been reported. */
  reported?: string | undefined;
}

const LOOK_EVERY_MS = 5_000;
/** Time between two attempts to open a stream. */
const RETRY_AFTER_MS = 500;
/** A process that has not been up so far may be starting for this long: nothing is wrong until then. */
const START_MS = 30_000;
/** How long a closing client waits for a server to end an idle stream cleanly. */
const CLOSE_GRACE_MS = 500;

/** One stream per server address, each opened again when it ends, and the choice between those that are up. */
export class StreamPool<O> {
  /** The full name of the RPC that carries the calls, for metrics. */
  readonly rpc: string;
  readonly #options: StreamPoolOptions<O>;
  readonly #links = new Map<string, Link<O>>();
  /** Those that run, also without taking calls. */
  readonly #running = new Map<StreamConnection<O>, Promise<void>>();
  #ready: StreamConnection<O>[] = [];
  #lookTimer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isClosed = false;

  constructor(options: StreamPoolOptions<O>) {
    const { parent, name } = options.streamMethod;
    this.rpc = `${parent.typeName}/${name}`;
    this.#options = options;
    void this.#look();
  }

  /** The one with fewer open calls of two streams picked at random, or nothing while no stream is up. */
  choose(): StreamConnection<O> | undefined {
    const count = this.#ready.length;
    const first = Math.floor(Math.random() * count);
    const [a, b] = [this.#ready[first], this.#ready[(first + 1 + Math.floor(Math.random() * (count - 1))) % count]];
    return a && b && b.inFlight < a.inFlight ? b : a;
  }

  /** Ends all streams: cleanly, or after 500 ms by force. Calls that are still open fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#lookTimer);
    for (const connection of this.#running.keys()) connection.leave();
    const forceEnd = setTimeout(() => {
      for (const connection of this.#running.keys()) connection.abort("the client is closed");
    }, CLOSE_GRACE_MS);
    await Promise.all(this.#running.values());
    clearTimeout(forceEnd);
  }

  /** Looks the addresses up, opens streams to the new ones, and leaves those that are gone. Keeps all if it fails. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    clearTimeout(this.#lookTimer);
    const { addresses: lookUp, lookEveryMs = LOOK_EVERY_MS, onError } = this.#options;
    try {
      const addresses = new Set(await Promise.race([lookUp(), tooLate(lookEveryMs)]));
      if (!this.#isClosed) this.#follow(addresses);
    } catch (error) {
      if (!this.#isClosed) onError(error);
    }
    this.#isLooking = false;
    if (!this.#isClosed) this.#lookTimer = setTimeout(() => void this.#look(), lookEveryMs);
  }

  #follow(addresses: ReadonlySet<string>): void {
    for (const [address, { connection }] of this.#links) {
      if (addresses.has(address)) continue;
      this.#links.delete(address);
      connection?.leave();
    }
    for (const address of addresses) {
      if (this.#links.has(address)) continue;
      const link = { sinceMs: performance.now(), hasBeenUp: false };
      this.#links.set(address, link);
      this.#open(address, link);
    }
  }

  /** Opens the next stream after this time, and looks the addresses up. Neither waits for the other. */
  #openLater(address: string, link: Link<O>, afterMs: number): void {
    const open = () => {
      if (this.#isClosed || this.#links.get(address) !== link) return;
      this.#open(address, link);
      void this.#look();
    };
    setTimeout(open, afterMs).unref();
  }

  #open(address: string, link: Link<O>): void {
    const { streamMethod, decode } = this.#options;
    const openedMs = performance.now();
    let transport: Transport & Disposable;
    try {
      transport = this.#options.transportFor(address);
    } catch (error) {
      this.#report(address, link, ConnectError.from(error));
      this.#openLater(address, link, RETRY_AFTER_MS);
      return;
    }
    const connection: StreamConnection<O> = new StreamConnection({
      streamMethod,
      decode,
      transport,
      rpc: this.rpc,
      onUp: () => {
        callStreamsOpened.add(1, { rpc: this.rpc });
        link.hasBeenUp = true;
        link.reported = undefined;
        this.#ready.push(connection);
        this.#options.onUp();
      },
      onDown: () => {
        link.connection = undefined;
        this.#ready = this.#ready.filter((ready) => ready !== connection);
        // The server may only want another stream: then no call should wait for it.
        const hasLasted = performance.now() - openedMs > RETRY_AFTER_MS;
        this.#openLater(address, link, hasLasted ? 0 : RETRY_AFTER_MS);
      },
    });
    link.connection = connection;
    this.#running.set(connection, this.#runToEnd(connection, address, link));
  }

  async #runToEnd(connection: StreamConnection<O>, address: string, link: Link<O>): Promise<void> {
    const error = await connection.run();
    this.#running.delete(connection);
    if (error === undefined || this.#isClosed) return;
    callStreamsLost.add(1, { rpc: this.rpc });
    const isStarting = !link.hasBeenUp && performance.now() - link.sinceMs < START_MS;
    if (isStarting && error.rawMessage.includes("ECONNREFUSED")) return;
    this.#report(address, link, error);
  }

  #report(address: string, link: Link<O>, error: ConnectError): void {
    if (link.reported === error.rawMessage) return;
    link.reported = error.rawMessage;
    const message = `call stream to ${address}: ${error.rawMessage}`;
    this.#options.onError(new ConnectError(message, error.code, undefined, undefined, error));
  }
}

async function tooLate(afterMs: number): Promise<never> {
  await delay(afterMs, undefined, { ref: false });
  throw new ConnectError("the lookup of the servers takes too long", Code.DeadlineExceeded);
}
