import { readFileSync } from "node:fs";
import { Redis, type StandaloneConnectionOptions } from "ioredis";
import { StandaloneConnector } from "ioredis/built/connectors/index.js";

const CONNECT_TIMEOUT_MS = 3_000;
const COMMAND_TIMEOUT_MS = 2_000;
const RECONNECT_MAX_WAIT_MS = 500;
const KEEP_ALIVE_MS = 5_000;

export interface RedisOptions {
  /** redis://user:password@host:port; with rediss:// the connection is encrypted and the certificate checked. */
  url: string;
  /** PEM file of the authorities to trust; by default, and with "", the public ones. */
  caFile?: string;
  name: string;
  onError: (error: Error) => void;
  /** Longest wait for the response to a command. Default 2 s. */
  commandTimeoutMs?: number;
}

/**
 * ioredis listens for one error of a socket. A socket that is closed while it refuses the server's certificate can
 * report two, and the second would end the process (ioredis #961).
 */
class Connector extends StandaloneConnector {
  constructor(options: unknown) {
    super(options as StandaloneConnectionOptions);
  }

  override async connect(...args: Parameters<StandaloneConnector["connect"]>) {
    const stream = await super.connect(...args);
    return stream.on("error", () => {});
  }
}

/**
 * A connection that keeps reconnecting and pipelines the commands of one tick. While Redis is down, commands fail
 * immediately instead of queueing, so that callers can decide what to do without it.
 */
export function connectRedis({ url, caFile, name, onError, commandTimeoutMs }: RedisOptions): Redis {
  const isEncrypted = /^rediss:/i.test(url);
  const redis = new Redis(url, {
    ...(isEncrypted && caFile && { tls: { ca: readFileSync(caFile, "utf8") } }),
    Connector,
    connectionName: name,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: commandTimeoutMs ?? COMMAND_TIMEOUT_MS,
    enableAutoPipelining: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    keepAlive: KEEP_ALIVE_MS,
    retryStrategy: (times) => Math.min(times * 50, RECONNECT_MAX_WAIT_MS),
  });
  redis.on("error", onError);
  return redis;
}

/** Sends a script's keys and values, and resolves to its reply. */
type RunScript = (keys: string[], values: (string | number)[]) => Promise<unknown>;

/** Defines a script under a name of its own. Redis gets its text once, and then its hash. */
export function defineScript(
  redis: Redis,
  { name, lua, keys }: { name: string; lua: string; keys: number },
): RunScript {
  redis.defineCommand(name, { lua, numberOfKeys: keys });
  const command = (redis as unknown as Record<string, (...args: (string | number)[]) => Promise<unknown>>)[name];
  if (!command) throw new Error(`${name} was not defined`);
  return (keyNames, values) => command.call(redis, ...keyNames, ...values);
}

/**
 * Resolves once the connection is up. Rejects after `deadlineMs`, or if the connection is closed permanently, with a
 * message that names the server and its last error.
 */
export async function untilReady(redis: Redis, deadlineMs: number): Promise<void> {
  if (redis.status === "ready") return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { host, port } = redis.options;
  let reason = "no response";
  const onError = (error: NodeJS.ErrnoException) => {
    // The error for a host name with several addresses has no message.
    reason = error.message || String(error.code);
  };
  const fail = () => reject(new Error(`Redis at ${host}:${port} is not reachable: ${reason}`));
  const timer = setTimeout(fail, deadlineMs);
  redis.once("ready", resolve).once("end", fail).on("error", onError);
  if (redis.status === "end") fail();
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    redis.off("ready", resolve).off("end", fail).off("error", onError);
  }
}
