import { LRUCache } from "lru-cache";

/**
 * Values that hold for an epoch of their workspace. A caller that knows of a newer epoch than the value was loaded
 * under gets a fresh one; callers that ask meanwhile share the load. While the epoch has not moved, a value that cannot
 * be loaded again is kept.
 */
export interface EpochCache<T> {
  /** Epoch 0 means that nobody knows the epoch: the value is loaded for this caller alone. */
  get(key: string, epoch: bigint, load: () => Promise<T>): Promise<T>;
  /** Forgets everything: after a reconnect to Redis its epochs may have gone back. */
  forget(): void;
}

interface Entry<T> {
  epoch: bigint;
  loadedAt: number;
  value: Promise<T>;
  /** The reload that is under way. */
  reloading: Promise<T> | undefined;
  /** A reload that failed is not tried again before. */
  retryAt: number;
}

const UNKNOWN_EPOCH = 0n;

/** Bounds what a crash between a commit and the raise of its epoch can leave behind. */
export const RELOAD_AFTER_MS = 30_000;
/** How long a value whose epoch has not moved is used while it cannot be loaded again. */
export const KEEP_FOR_MS = 600_000;
/** How often a value that could not be loaded again is tried. */
export const RETRY_AFTER_MS = 1_000;

/** What the values may weigh together; one that is heavier than that is not kept. */
export interface SizeBound<T> {
  maxBytes: number;
  /** In bytes, roughly. */
  sizeOf: (value: T) => number;
}

/** An entry beside its value. */
const ENTRY_BYTES = 500;

export function createEpochCache<T>(
  maxEntries: number,
  now: () => number,
  { maxBytes, sizeOf }: SizeBound<T>,
): EpochCache<T> {
  const cache = new LRUCache<string, Entry<T>>({ max: maxEntries, maxSize: maxBytes });

  function keep(key: string, epoch: bigint, loadedAt: number, value: Promise<T>): Entry<T> {
    const entry = { epoch, loadedAt, value, reloading: undefined, retryAt: 0 };
    cache.set(key, entry, { size: ENTRY_BYTES });
    value.then(
      (loaded) => {
        if (cache.peek(key) !== entry) return;
        // The cache measures what it does not hold yet, and no other.
        cache.delete(key);
        cache.set(key, entry, { size: ENTRY_BYTES + Math.ceil(sizeOf(loaded)) });
      },
      () => {},
    );
    return entry;
  }

  function fill(key: string, epoch: bigint, load: () => Promise<T>): Promise<T> {
    const value = load();
    const entry = keep(key, epoch, now(), value);
    value.catch(() => {
      if (cache.peek(key) === entry) cache.delete(key);
    });
    return value;
  }

  async function reload(key: string, old: Entry<T>, load: () => Promise<T>): Promise<T> {
    const loadedAt = now();
    try {
      const value = await load();
      if (cache.peek(key) === old) keep(key, old.epoch, loadedAt, Promise.resolve(value));
      return value;
    } catch (error) {
      // Forgotten meanwhile, or replaced under a newer epoch: nothing confirms the old value any more.
      if (cache.peek(key) !== old) throw error;
      old.retryAt = now() + RETRY_AFTER_MS;
      return old.value;
    } finally {
      old.reloading = undefined;
    }
  }

  return {
    get(key, epoch, load) {
      if (epoch === UNKNOWN_EPOCH) return load();
      const cached = cache.get(key);
      if (!cached || cached.epoch < epoch) return fill(key, epoch, load);
      const age = now() - cached.loadedAt;
      if (age <= RELOAD_AFTER_MS) return cached.value;
      if (age > KEEP_FOR_MS) return fill(key, epoch, load);
      if (now() < cached.retryAt) return cached.value;
      cached.reloading ??= reload(key, cached, load);
      return cached.reloading;
    },
    forget: () => cache.clear(),
  };
}
