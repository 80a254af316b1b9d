import { LRUCache } from "lru-cache";
import type { VerificationRow } from "../store/verification.ts";

/** Loads the row of a secret's hash. */
export type RowLoader = (secretHash: Uint8Array) => Promise<VerificationRow | undefined>;

const MAX_HASHES_PER_QUERY = 500;
/** Small enough to leave connections for the rest of the service. */
export const MAX_QUERIES_IN_FLIGHT = 4;
/** These two bound the cost of a flood of well-formed keys that do not exist. */
export const UNKNOWN_FOR_MS = 2_000;
const MAX_UNKNOWN_HASHES = 50_000;

interface Waiting {
  hash: Buffer;
  row: PromiseWithResolvers<VerificationRow | undefined>;
}

/**
 * Lookups of one tick share a query, and so do lookups that wait because too many queries run.
 *
 * Hashes without a row are remembered for a moment. A new key still works immediately: its secret is 32 random bytes
 * that leave this service after the commit, so that it cannot have been looked up before.
 */
export function createRowLoader(query: (hashes: Buffer[]) => Promise<VerificationRow[]>, now: () => number): RowLoader {
  const unknownUntil = new LRUCache<string, number>({ max: MAX_UNKNOWN_HASHES });
  const waiting = new Map<string, Waiting>();
  let inFlight = 0;
  let scheduled = false;

  async function loadAll(batch: [id: string, Waiting][]): Promise<void> {
    inFlight += 1;
    try {
      const rows = await query(batch.map(([, { hash }]) => hash));
      const byId = new Map(rows.map((row) => [idOf(row.secretHash), row]));
      for (const [id, { row }] of batch) {
        if (!byId.has(id)) unknownUntil.set(id, now() + UNKNOWN_FOR_MS);
        row.resolve(byId.get(id));
      }
    } catch (error) {
      for (const [, { row }] of batch) row.reject(error);
    } finally {
      inFlight -= 1;
      startQueries();
    }
  }

  function startQueries(): void {
    scheduled = false;
    while (waiting.size > 0 && inFlight < MAX_QUERIES_IN_FLIGHT) {
      const batch = [...waiting].slice(0, MAX_HASHES_PER_QUERY);
      for (const [id] of batch) waiting.delete(id);
      void loadAll(batch);
    }
  }

  return async (secretHash) => {
    const id = idOf(secretHash);
    if (now() < (unknownUntil.get(id) ?? 0)) return undefined;
    const joined = waiting.get(id);
    if (joined) return joined.row.promise;
    const lookup: Waiting = { hash: Buffer.from(secretHash), row: Promise.withResolvers() };
    waiting.set(id, lookup);
    if (!scheduled) {
      scheduled = true;
      setImmediate(startQueries);
    }
    return lookup.row.promise;
  };
}

function idOf(secretHash: Uint8Array): string {
  return Buffer.from(secretHash).toString("latin1");
}
