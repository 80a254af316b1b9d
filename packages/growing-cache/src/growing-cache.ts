import { LRUCache } from "lru-cache";

type Options<K extends {}, V extends {}> = Omit<LRUCache.Options<K, V, unknown>, "max" | "maxSize" | "sizeCalculation">;

/**
 * A cache of up to `maxEntries` that forgets the entry used least recently, and takes memory only for the entries that
 * it holds. With its option `max`, lru-cache reserves 28 bytes for each entry that there may ever be (44 with a
 * `ttl`), and every major garbage collection goes through them.
 */
export function growingCache<K extends {}, V extends {}>(maxEntries: number, options?: Options<K, V>): LRUCache<K, V> {
  return new LRUCache<K, V>({ ...options, maxSize: maxEntries, sizeCalculation: () => 1 });
}
