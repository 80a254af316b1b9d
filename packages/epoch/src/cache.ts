import { cacheLookups } from "@toolgate/telemetry/instruments";
import { LRUCache } from "lru-cache";

/**
 * Values loaded from Postgres that are valid for an epoch. A caller that knows a newer epoch gets a newly loaded value;
 * simultaneous callers share one load. Values are loaded again after `RELOAD_AFTER_MS`; while that fails
 * and the epoch stays the same, the old value is used for up to `KEEP_FOR_MS`.
 */
interface EpochCache<Epoch, T> {
  /**
   * The value under this epoch or a newer one. An undefined epoch (Redis is down) loads for this caller alone and caches
   * nothing. Rejects when the load fails and no cached value may be used instead.
   */
  get(key: string, epoch: Epoch | undefined, load: () => Promise<T>): Promise<T>;
  /** The cached value, without loading it, and the epoch it is valid for, which is undefined once a reload is due. */
  peek(key: string): { value: T; epoch: Epoch | undefined } | undefined;
}

/** What all caches of a service share. */
export interface CacheSource {
  /** The connection that epochs come from. After a reconnect they may be lower, so the cache is emptied. */
  redis: { on(event: "ready", listener: () => void): unknown };
  /** Milliseconds since 1970. */
  now: () => number;
}

export interface EpochCacheOptions<Epoch, T> extends CacheSource {
  /** For metrics. */
  name: string;
  /** Whether a value loaded under `cached` is valid for a caller that knows `wanted`. */
  isCurrent: (cached: Epoch, wanted: Epoch) => boolean;
  /** Of all values; a single one that is larger is not cached. */
  maxBytes: number;
  /** Bytes, roughly, without those of an entry. */
  sizeOf: (value: T) => number;
}

/** Longest time that a change stays unseen if the process crashed after the commit and before raising the epoch. */
export const RELOAD_AFTER_MS = 30_000;
/** How long a value is used while it cannot be loaded again, if its epoch stays the same. */
export const KEEP_FOR_MS = 600_000;
/** Pause between two attempts to reload a value. */
export const RETRY_AFTER_MS = 1_000;
/** How long a caller waits for a reload before it gets the cached value. */
const RELOAD_WAIT_MS = 1_000;
/** An entry with its key, whatever its value is. */
const ENTRY_BYTES = 1_000;

interface Entry<Epoch, T> {
  epoch: Epoch;
  value: T;
  loadedAt: number;
  /** No reload before this time, because the last one failed. */
  retryAt: number;
}

interface Load<Epoch, T> {
  epoch: Epoch;
  value: Promise<T>;
}

export function createEpochCache<Epoch, T>(options: EpochCacheOptions<Epoch, T>): EpochCache<Epoch, T> {
  const { name, now, isCurrent, sizeOf } = options;
  const entries = new LRUCache<string, Entry<Epoch, T>>({
    maxSize: options.maxBytes,
    sizeCalculation: ({ value }) => ENTRY_BYTES + Math.ceil(sizeOf(value)),
  });
  const loads = new Map<string, Load<Epoch, T>>();
  options.redis.on("ready", () => {
    entries.clear();
    loads.clear();
  });

  const isReloadDue = ({ loadedAt, retryAt }: Entry<Epoch, T>) =>
    now() - loadedAt > RELOAD_AFTER_MS && now() >= retryAt;

  function loadOnce(key: string, epoch: Epoch, load: () => Promise<T>): Promise<T> {
    const running = loads.get(key);
    if (running && isCurrent(running.epoch, epoch)) return running.value;
    const loadedAt = now();
    const started: Load<Epoch, T> = { epoch, value: load() };
    loads.set(key, started);
    started.value.then(
      (value) => {
        // A load under a newer epoch has replaced this one meanwhile, or the cache was emptied.
        if (loads.get(key) !== started) return;
        loads.delete(key);
        entries.set(key, { epoch, value, loadedAt, retryAt: 0 });
      },
      () => {
        if (loads.get(key) === started) loads.delete(key);
      },
    );
    return started.value;
  }

  async function reload(key: string, epoch: Epoch, load: () => Promise<T>): Promise<T> {
    try {
      return await withTimeout(loadOnce(key, epoch, load));
    } catch (error) {
      const kept = entries.peek(key);
      if (!kept || !isCurrent(kept.epoch, epoch)) throw error;
      kept.retryAt = now() + RETRY_AFTER_MS;
      return kept.value;
    }
  }

  return {
    get(key, epoch, load) {
      if (epoch === undefined) return load();
      const entry = entries.get(key);
      if (!entry || !isCurrent(entry.epoch, epoch) || now() - entry.loadedAt > KEEP_FOR_MS) {
        cacheLookups.add(1, { cache: name, result: "miss" });
        return loadOnce(key, epoch, load);
      }
      cacheLookups.add(1, { cache: name, result: "hit" });
      return isReloadDue(entry) ? reload(key, epoch, load) : Promise.resolve(entry.value);
    },
    peek(key) {
      const entry = entries.get(key);
      return entry && { value: entry.value, epoch: isReloadDue(entry) ? undefined : entry.epoch };
    },
  };
}

/** Caches what belongs to a workspace, by the workspace's epoch. 0 means that it is unknown. */
export function createWorkspaceCache<T>(
  { redis, now }: CacheSource,
  options: Omit<EpochCacheOptions<bigint, T>, "isCurrent" | keyof CacheSource>,
): Pick<EpochCache<bigint, T>, "get"> {
  const cache = createEpochCache<bigint, T>({
    ...options,
    redis,
    now,
    isCurrent: (cached, wanted) => cached >= wanted,
  });
  return { get: (key, epoch, load) => cache.get(key, epoch === 0n ? undefined : epoch, load) };
}

async function withTimeout<T>(loading: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("the reload takes too long")), RELOAD_WAIT_MS);
  try {
    return await Promise.race([loading, late]);
  } finally {
    clearTimeout(timer);
  }
}

const BYTES_PER_CHAR = 2;

/** A `sizeOf` for values that are JSON: about the memory of their text. */
export function jsonBytes(value: unknown): number {
  return BYTES_PER_CHAR * (JSON.stringify(value)?.length ?? 0);
}
