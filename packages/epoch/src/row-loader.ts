import { LRUCache } from "lru-cache";

/** Loads the row of a secret's hash; undefined when there is none. */
export type RowLoader<Row> = (hash: Uint8Array) => Promise<Row | undefined>;

interface RowLoaderOptions<Row> {
  /** Finds the rows of all these hashes. */
  query: (hashes: Buffer[]) => Promise<Row[]>;
  /** The hash that a row was found by. */
  hashOf: (row: Row) => Uint8Array;
  /** Milliseconds since 1970. */
  now: () => number;
}

const MAX_HASHES_PER_QUERY = 500;
/** Small enough to leave connections for the rest of the service. */
export const MAX_QUERIES_IN_FLIGHT = 4;
/** These two bound the cost of a flood of well-formed secrets that do not exist. */
export const UNKNOWN_FOR_MS = 2_000;
const MAX_UNKNOWN_HASHES = 50_000;

interface Waiting<Row> {
  hash: Buffer;
  row: PromiseWithResolvers<Row | undefined>;
}

/**
 * Lookups of one tick share a query, and so do lookups that wait because too many queries run.
 *
 * Hashes without a row are remembered for a moment. A new row is still found immediately: its secret is random and leaves
 * the service after the commit, so that it cannot have been looked up before.
 */
export function createRowLoader<Row>({ query, hashOf, now }: RowLoaderOptions<Row>): RowLoader<Row> {
  const unknownUntil = new LRUCache<string, number>({ max: MAX_UNKNOWN_HASHES });
  const waiting = new Map<string, Waiting<Row>>();
  let inFlight = 0;
  let scheduled = false;

  async function loadAll(batch: [id: string, Waiting<Row>][]): Promise<void> {
    inFlight += 1;
    try {
      const rows = await query(batch.map(([, { hash }]) => hash));
      const byId = new Map(rows.map((row) => [idOf(hashOf(row)), row]));
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

  return async (hash) => {
    const id = idOf(hash);
    if (now() < (unknownUntil.get(id) ?? 0)) return undefined;
    const joined = waiting.get(id);
    if (joined) return joined.row.promise;
    const lookup: Waiting<Row> = { hash: Buffer.from(hash), row: Promise.withResolvers() };
    waiting.set(id, lookup);
    if (!scheduled) {
      scheduled = true;
      setImmediate(startQueries);
    }
    return lookup.row.promise;
  };
}

function idOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString("latin1");
}
