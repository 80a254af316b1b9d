import { once } from "node:events";
import pLimit from "p-limit";
import pg from "pg";
import { EXACT_TYPES } from "./exact-types.ts";
import { ForeignClient } from "./foreign-client.ts";

/** Where a foreign server is. Not a URL, so that only these fields decide where the connection goes. */
export interface ForeignServer {
  /** The address itself; it is not resolved. */
  address: string;
  port: number;
  user: string;
  password: string;
  database: string;
  /** TLS, with the certificate checked for the name, or for the address when there is no name. Undefined: no TLS. */
  tls: { serverName?: string; ca?: string } | undefined;
}

interface RunLimits {
  signal: AbortSignal;
  maxBytes: number;
}

/** Connections to an untrusted server. */
export interface ForeignPool {
  /**
   * Runs `work` on a connection that nothing else uses meanwhile. When the signal fires or the server sends more than
   * `maxBytes`, the connection is closed and `work` rejects. A connection is reused only after a transaction that has
   * ended, and without anything that the run left on it: settings, session locks, temporary tables. It is cleaned after
   * the result has been returned.
   */
  run<T>(limits: RunLimits, work: (client: ForeignClient) => Promise<T>): Promise<T>;
  /** Resolves once all runs have ended. */
  end(): Promise<void>;
}

/** The server could not be connected to. */
export class Unreachable extends Error {}

const CONNECT_TIMEOUT_MS = 8_000;
const IDLE_TIMEOUT_MS = 60_000;
const CLEAN_TIMEOUT_MS = 1_000;
const CLEAN_BYTES = 16 * 1024;

export function createForeignPool(server: ForeignServer, maxConnections: number): ForeignPool {
  const { address, tls } = server;
  const pool = new pg.Pool({
    // No setting may be empty: pg would read it from this process's environment.
    host: address,
    port: server.port,
    user: server.user,
    password: () => server.password,
    database: server.database,
    ssl: tls !== undefined && {
      rejectUnauthorized: true,
      ...(tls.serverName !== undefined && { servername: tls.serverName }),
      ...(tls.ca !== undefined && { ca: tls.ca }),
    },
    Client: ForeignClient as unknown as new () => pg.ClientBase,
    max: maxConnections,
    application_name: "toolgate data source",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    types: EXACT_TYPES,
  });
  // A connection that breaks while idle is replaced when it is needed.
  pool.on("error", () => {});
  // A run that is cancelled while it waits here opens no connection. In pg's own queue it would still open one.
  const limit = pLimit(maxConnections);
  const running = new Set<Promise<unknown>>();
  return {
    async run<T>(limits: RunLimits, work: (client: ForeignClient) => Promise<T>) {
      // Before there is a promise that nobody would wait for: its rejection would end the process.
      limits.signal.throwIfAborted();
      const { promise: result, resolve, reject } = Promise.withResolvers<T>();
      const run = limit(() => runOn(pool, limits, work, resolve)).catch(reject);
      running.add(run);
      void run.then(() => running.delete(run));
      return unlessAborted(limits.signal, result);
    },
    async end() {
      await Promise.allSettled(running);
      await pool.end();
    },
  };
}

async function runOn<T>(
  pool: pg.Pool,
  { signal, maxBytes }: RunLimits,
  work: (client: ForeignClient) => Promise<T>,
  done: (result: T) => void,
): Promise<void> {
  const client = await borrow(pool, signal);
  const close = () => client.destroy();
  signal.addEventListener("abort", close, { once: true });
  client.allowBytes(maxBytes);
  try {
    done(await work(client));
  } finally {
    signal.removeEventListener("abort", close);
    const reusable = !signal.aborted && !client.sentTooMuch && client.getTransactionStatus() === "I";
    const clean = reusable && (await isCleaned(client));
    if (!clean) client.destroy();
    client.release(!clean);
  }
}

/** Whether the server has forgotten what a run did to the session. */
async function isCleaned(client: ForeignClient): Promise<boolean> {
  client.allowBytes(CLEAN_BYTES);
  const late = setTimeout(() => client.destroy(), CLEAN_TIMEOUT_MS);
  try {
    await client.query("discard all");
    return !client.sentTooMuch && client.getTransactionStatus() === "I";
  } catch {
    return false;
  } finally {
    clearTimeout(late);
  }
}

/** Waits for the server even after an abort, so that the connection counts against the limit until it is closed. */
async function borrow(pool: pg.Pool, signal: AbortSignal): Promise<ForeignClient & pg.PoolClient> {
  signal.throwIfAborted();
  const client = await (pool.connect() as Promise<ForeignClient & pg.PoolClient>).catch((error: Error) => {
    throw new Unreachable(error.message, { cause: error });
  });
  if (!signal.aborted) return client;
  client.destroy();
  client.release(true);
  throw signal.reason;
}

/** `signal` must not have aborted yet. */
async function unlessAborted<T>(signal: AbortSignal, running: Promise<T>): Promise<T> {
  const ended = new AbortController();
  const aborted = once(signal, "abort", { signal: ended.signal }).then(() => Promise.reject(signal.reason));
  try {
    return await Promise.race([running, aborted]);
  } finally {
    aborted.catch(() => {});
    ended.abort();
  }
}
