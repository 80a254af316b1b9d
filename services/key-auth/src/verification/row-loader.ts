import type { VerificationRow } from "../store/verification.ts";

/** Loads rows by secret hash; look-ups of one tick share one query, and so do those that wait for one. */
export type RowLoader = (secretHash: Uint8Array) => Promise<VerificationRow | undefined>;

const MAX_HASHES_PER_QUERY = 500;
/** The rest of the service needs connections too. */
export const MAX_QUERIES_IN_FLIGHT = 4;

interface Waiting {
  hash: Buffer;
  resolve: (row: VerificationRow | undefined) => void;
  reject: (error: unknown) => void;
}

export function createRowLoader(load: (hashes: Buffer[]) => Promise<VerificationRow[]>): RowLoader {
  const waiting: Waiting[] = [];
  let inFlight = 0;
  let scheduled = false;

  async function loadAll(batch: Waiting[]): Promise<void> {
    inFlight += 1;
    try {
      const rows = await load(batch.map(({ hash }) => hash));
      const byHash = new Map(rows.map((row) => [row.secretHash.toString("latin1"), row]));
      for (const { hash, resolve } of batch) resolve(byHash.get(hash.toString("latin1")));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      inFlight -= 1;
      flush();
    }
  }

  function flush(): void {
    scheduled = false;
    while (waiting.length > 0 && inFlight < MAX_QUERIES_IN_FLIGHT) {
      void loadAll(waiting.splice(0, MAX_HASHES_PER_QUERY));
    }
  }

  return (secretHash) =>
    new Promise((resolve, reject) => {
      waiting.push({ hash: Buffer.from(secretHash), resolve, reject });
      if (scheduled) return;
      scheduled = true;
      setImmediate(flush);
    });
}
