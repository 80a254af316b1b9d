import { Redis } from "ioredis";

const CONNECT_TIMEOUT_MS = 3_000;
const COMMAND_TIMEOUT_MS = 2_000;
const RECONNECT_MAX_WAIT_MS = 500;
const KEEP_ALIVE_MS = 5_000;

export interface RedisOptions {
  /** redis://host:port */
  url: string;
  name: string;
  onError: (error: Error) => void;
}

/**
 * A connection that reconnects for ever, pipelines the commands of one tick by itself, and fails commands at once while
 * Redis is away instead of queueing them: callers decide what to do without it.
 */
export function connectRedis({ url, name, onError }: RedisOptions): Redis {
  const redis = new Redis(url, {
    connectionName: name,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    enableAutoPipelining: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    keepAlive: KEEP_ALIVE_MS,
    retryStrategy: (times) => Math.min(times * 50, RECONNECT_MAX_WAIT_MS),
  });
  redis.on("error", onError);
  return redis;
}

/**
 * Resolves once the connection is up; rejects after `deadlineMs`, or when the connection was closed for good, with a
 * message that names the server and what it last failed with.
 */
export async function untilReady(redis: Redis, deadlineMs: number): Promise<void> {
  if (redis.status === "ready") return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { host, port } = redis.options;
  let reason = "no answer";
  const onError = (error: NodeJS.ErrnoException) => {
    // A name with several addresses fails without a message of its own.
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
