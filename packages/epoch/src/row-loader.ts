import { LRUCache } from "lru-cache";
import pLimit from "p-limit";

/** Finds the row of a secret's hash; undefined when there is none. */
export type FindRow<Row> = (hash: Buffer) => Promise<Row | undefined>;

/** Small enough to leave connections for the rest of the service. */
const MAX_QUERIES_IN_FLIGHT = 4;
/** These two bound the cost of a flood of well-formed secrets that do not exist. */
export const UNKNOWN_FOR_MS = 2_000;
const MAX_UNKNOWN_HASHES = 50_000;

/**
 * Limits the queries in flight, and remembers hashes without a row for a moment. A new row is still found immediately: its
 * secret is random and leaves the service after the commit, so that it cannot have been looked up before.
 * @param now milliseconds since 1970
 */
export function createRowLoader<Row>(find: FindRow<Row>, now: () => number): FindRow<Row> {
  const unknownUntil = new LRUCache<string, number>({ max: MAX_UNKNOWN_HASHES });
  const limit = pLimit(MAX_QUERIES_IN_FLIGHT);
  return async (hash) => {
    const id = hash.toString("latin1");
    const isUnknown = () => now() < (unknownUntil.get(id) ?? 0);
    if (isUnknown()) return undefined;
    return limit(async () => {
      // Another call may have looked it up while this one waited.
      if (isUnknown()) return undefined;
      const row = await find(hash);
      if (!row) unknownUntil.set(id, now() + UNKNOWN_FOR_MS);
      return row;
    });
  };
}
