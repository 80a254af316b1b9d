import { LRUCache } from "lru-cache";
import type { RowLoader } from "./row-loader.ts";

/** Bounds what a flood of keys that look right and do not exist costs. */
export const UNKNOWN_FOR_MS = 2_000;
export const MAX_UNKNOWN_HASHES = 50_000;

/**
 * Remembers for a moment which hashes have no row. A key that is created or rotated works at once all the same: its
 * secret is 32 fresh random bytes that are answered after the commit, so nobody can have asked for it before.
 */
export function rememberUnknown(load: RowLoader, now: () => number): RowLoader {
  const unknownUntil = new LRUCache<string, number>({ max: MAX_UNKNOWN_HASHES });
  return async (secretHash) => {
    const id = Buffer.from(secretHash).toString("latin1");
    if (now() < (unknownUntil.get(id) ?? 0)) return undefined;
    const row = await load(secretHash);
    if (!row) unknownUntil.set(id, now() + UNKNOWN_FOR_MS);
    return row;
  };
}
