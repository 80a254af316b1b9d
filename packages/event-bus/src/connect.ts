import { setTimeout as sleep } from "node:timers/promises";
import { type ConnectionOptions as ConnectOptions, checkServerIdentity } from "node:tls";
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import {
  type ConnectionOptions,
  connect,
  type NatsConnection,
  type Status,
  type TlsOptions,
} from "@nats-io/transport-node";
import { inboxOf } from "@toolgate/service-registry/inbox";

/** A connection to NATS that survives restarts of the server. */
export interface Bus extends AsyncDisposable {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  /** Copies of each message, on as many servers of the broker, in streams that are created from here. */
  readonly streamReplicas: number;
  /** How many times the connection has broken so far. */
  readonly breaks: number;
  /** False while the connection is broken, and once it is closed. */
  isConnected(): boolean;
  /** Calls the listener each time the connection breaks or is closed: requests sent before will get no response. */
  onDisconnect(listener: () => void): () => void;
  /** Resolves once connected or closed, at the latest after `waitMs` or when the signal fires. Never rejects. */
  untilConnected(waitMs: number, signal?: AbortSignal): Promise<void>;
}

interface BusOptions {
  /**
   * nats://user:password@host:port, several separated by commas; the first credentials apply to all. With tls://
   * the connection must be encrypted, and the server's certificate must be valid.
   */
  servers: string;
  /** PEM file of the authorities to trust, with tls://; by default, and with "", the public ones. */
  caFile?: string;
  /** Shown in the server's list of connections. */
  name: string;
  log?: (message: string) => void;
  /** See `Bus`. Default 1. */
  streamReplicas?: number;
  /** Longest wait for a response of JetStream's API. Default 2 s. */
  apiTimeoutMs?: number;
}

const RECONNECT_WAIT_MS = 100;
const RECONNECT_JITTER_MS = 200;
const PING_INTERVAL_MS = 5_000;
const MISSED_PINGS = 2;
const API_TIMEOUT_MS = 2_000;
const CLOSE_WITHIN_MS = 2_000;
const CREDENTIALS = /^[a-z]+:\/\/([^:@/]*)(?::([^@/]*))?@/i;
const INBOX_NAME = /^[\w-]+$/;

/**
 * Connects, and reconnects forever. Throws when the first connection fails; the message names the servers without their
 * credentials. Disposing sends buffered messages and ends within 2 s, also when the server is down.
 */
export async function connectBus(options: BusOptions): Promise<Bus> {
  const { servers, caFile = "", name, log, streamReplicas = 1, apiTimeoutMs = API_TIMEOUT_MS } = options;
  const addresses = addressesOf(servers, caFile);
  const nc = await connect({
    ...addresses,
    name,
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    reconnectJitter: RECONNECT_JITTER_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: MISSED_PINGS,
    // A stack trace for each request would cost more than the request.
    noAsyncTraces: true,
  }).catch((cause: Error) => {
    throw new Error(`NATS at ${hostsOf(servers)} cannot be reached: ${cause.message}`, { cause });
  });
  const disconnectListeners = new Set<() => void>();
  const reconnectListeners = new Set<() => void>();
  let connected = true;
  let breaks = 0;
  function setConnected(state: boolean): void {
    connected = state;
    if (!state) breaks += 1;
    for (const listener of state ? reconnectListeners : disconnectListeners) listener();
  }
  void watch(nc, (status) => {
    if (status.type !== "disconnect" && status.type !== "reconnect") return;
    log?.(`event bus: ${status.type}`);
    setConnected(status.type === "reconnect");
  });
  void nc.closed().then(() => {
    setConnected(false);
    for (const listener of reconnectListeners) listener();
  });
  return {
    nc,
    js: jetstream(nc),
    jsm: await jetstreamManager(nc, { checkAPI: false, timeout: apiTimeoutMs }),
    streamReplicas,
    get breaks() {
      return breaks;
    },
    isConnected: () => connected && !nc.isClosed(),
    onDisconnect(listener) {
      disconnectListeners.add(listener);
      return () => disconnectListeners.delete(listener);
    },
    async untilConnected(waitMs, signal) {
      if (connected || nc.isClosed()) return;
      const stop = new AbortController();
      const wake = () => stop.abort();
      reconnectListeners.add(wake);
      const either = signal ? AbortSignal.any([stop.signal, signal]) : stop.signal;
      await sleep(waitMs, undefined, { signal: either }).catch(() => {});
      reconnectListeners.delete(wake);
    },
    async [Symbol.asyncDispose]() {
      if (nc.isClosed()) return;
      const cut = new AbortController();
      const late = sleep(CLOSE_WITHIN_MS, undefined, { signal: cut.signal }).catch(() => {});
      if (connected) await Promise.race([nc.drain().catch(() => {}), late]);
      cut.abort();
      await nc.close();
    },
  };
}

/** Settles like the response, or rejects as soon as the connection breaks, because the response will never come then. */
export async function unlessDisconnected<T>(bus: Bus, request: () => Promise<T>): Promise<T> {
  if (!bus.isConnected()) throw new Error("not connected to NATS");
  const { promise: broken, reject } = Promise.withResolvers<never>();
  const off = bus.onDisconnect(() => reject(new Error("lost connection to NATS")));
  const response = request();
  try {
    return await Promise.race([response, broken]);
  } finally {
    off();
    response.catch(() => {});
  }
}

/** The client takes credentials separately from the addresses; those of the first address that has any apply to all. */
function addressesOf(
  servers: string,
  caFile: string,
): Pick<ConnectionOptions, "servers" | "user" | "pass" | "token" | "tls" | "inboxPrefix"> {
  const addresses = servers.split(",").map((address) => address.trim());
  const withoutCredentials = addresses.map((address) => address.replace(/^([a-z]+:\/\/)[^@/]*@/i, "$1"));
  const [, user, pass] = CREDENTIALS.exec(addresses.find((address) => CREDENTIALS.test(address)) ?? "") ?? [];
  const encrypted = addresses.some((address) => /^tls:/i.test(address));
  const common = { servers: withoutCredentials, ...(encrypted && { tls: tlsFor(withoutCredentials, caFile) }) };
  if (user === undefined) return common;
  if (pass === undefined) return { ...common, token: decodeURIComponent(user) };
  const name = decodeURIComponent(user);
  return {
    ...common,
    user: name,
    pass: decodeURIComponent(pass),
    ...(INBOX_NAME.test(name) && { inboxPrefix: inboxOf(name) }),
  };
}

/** The client checks the certificate of an address without a name as if it were localhost's, so the names are checked here. */
function tlsFor(addresses: readonly string[], caFile: string): TlsOptions {
  const hosts = addresses.map((address) => URL.parse(address.replace(/^([a-z]+:\/\/)?/i, "tls://"))?.hostname ?? "");
  const names = hosts.map((host) => host.replace(/^\[(.*)\]$/, "$1"));
  const options: TlsOptions & Pick<ConnectOptions, "checkServerIdentity"> = {
    ...(caFile !== "" && { caFile }),
    checkServerIdentity(_, certificate) {
      const faults = names.map((name) => checkServerIdentity(name, certificate));
      return faults.includes(undefined) ? undefined : faults[0];
    },
  };
  return options;
}

function hostsOf(servers: string): string {
  const hosts = servers.split(",").map((address) => address.trim().replace(/^([a-z]+:\/\/)?(.*@)?/i, ""));
  return hosts.join(", ");
}

async function watch(nc: NatsConnection, tell: (status: Status) => void): Promise<void> {
  for await (const status of nc.status()) tell(status);
}
