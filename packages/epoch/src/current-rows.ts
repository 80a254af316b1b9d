import { cacheLookups, epochsRead } from "@toolgate/telemetry/instruments";
import { createEpochCache, type EpochCacheOptions } from "./cache.ts";
import { type CallCounter, type CountedCall, createLocalCounter, type RowEpochs } from "./call-counter.ts";
import { createRowLoader, type FindRow } from "./row-loader.ts";

/** A row that calls are counted for. */
interface CountableRow {
  id: string | number;
  workspaceId: string;
  /** Calls per minute. */
  limit: number;
}

/** What a caller makes of a row in its current state. */
interface Judgement {
  /** Whether the call counts. One that does not may be answered all the same. */
  counts: boolean;
}

/** A call, judged by the current state of its row, and counted if it counts. */
export interface JudgedCall<Row, J> extends CountedCall {
  row: Row;
  judgement: J;
  /** The workspace's; undefined while Redis is down. */
  epoch: string | undefined;
}

/** Rows found by the hash of a secret, in their current state. */
export interface CurrentRows<Row> {
  /** `judge` may run again with a newer state of the row. Undefined: there is no such row. */
  call<J extends Judgement>(hash: Uint8Array, judge: (row: Row) => J): Promise<JudgedCall<Row, J> | undefined>;
}

type CacheOptions<Row> = Pick<
  EpochCacheOptions<RowEpochs, Row | undefined>,
  "name" | "redis" | "now" | "maxBytes" | "sizeOf"
>;

export interface CurrentRowsOptions<Stored, Row> extends CacheOptions<Row> {
  find: FindRow<Stored>;
  read: (row: Stored) => Row;
  /** Adds what another service knows. While Redis is down, it is asked only for calls that count without it. */
  complete?: (row: Row) => Promise<Row>;
  counter: Pick<CallCounter, "count">;
  /** Called with the reason why Redis could not decide. */
  onRedisError: (error: unknown) => void;
}

/** An epoch that still changes after this many reads is a fault, not a user's edits. */
const MAX_RELOADS = 5;

/**
 * [KEY-21] One round trip to Redis per call: a cached row is used only while Redis has the epochs under which it was loaded,
 * so that a change applies on every replica from its response on. While Redis is down, every call reads Postgres, and the
 * limit is counted in this process. While Postgres is down, rows whose epochs are current are used for as long as the cache
 * keeps them.
 */
export function createCurrentRows<Stored, Row extends CountableRow>(
  options: CurrentRowsOptions<Stored, Row>,
): CurrentRows<Row> {
  const { name, now, find, read, complete = async (row) => row, counter, onRedisError } = options;
  const loadStored = createRowLoader(find, now);
  const countHere = createLocalCounter(now);
  const cache = createEpochCache<RowEpochs, Row | undefined>({
    ...options,
    isCurrent: (cached, wanted) => cached.own === wanted.own && cached.workspace === wanted.workspace,
  });

  async function load(hash: Uint8Array): Promise<Row | undefined> {
    const stored = await loadStored(Buffer.from(hash));
    return stored && read(stored);
  }

  async function loadCompletely(hash: Uint8Array): Promise<Row | undefined> {
    const row = await load(hash);
    return row && complete(row);
  }

  async function callWithoutRedis<J extends Judgement>(
    incomplete: Row | undefined,
    judge: (row: Row) => J,
  ): Promise<JudgedCall<Row, J> | undefined> {
    if (!incomplete) return undefined;
    let [row, judgement] = [incomplete, judge(incomplete)];
    if (judgement.counts) {
      row = await complete(row);
      judgement = judge(row);
    }
    return { row, judgement, ...countHere(String(row.id), row.limit, judgement.counts), epoch: undefined };
  }

  return {
    async call(hash, judge) {
      const key = Buffer.from(hash).toString("latin1");
      const cached = cache.peek(key);
      let row = cached?.value;
      // Without known epochs, Redis returns only the current ones.
      let epochs = row && cached?.epoch;
      const found = row ?? (await load(hash));
      if (!found) return undefined;
      const { workspaceId } = found;
      const id = String(found.id);
      for (let reloads = 0; reloads <= MAX_RELOADS; reloads += 1) {
        const judgement = row && epochs && judge(row);
        const { limit } = row ?? found;
        const call = { id, workspaceId, known: epochs, limit, count: judgement?.counts ?? false };
        const counted = await counter.count(call).catch(onRedisError);
        epochsRead.add(1, { source: counted ? "redis" : "none" });
        if (!counted) return callWithoutRedis(row ? await load(hash) : found, judge);
        if ("admitted" in counted) {
          if (!row || !judgement) throw new Error("Redis decided although no epochs were sent");
          if (reloads === 0) cacheLookups.add(1, { cache: name, result: "hit" });
          return { row, judgement, ...counted, epoch: epochs?.workspace };
        }
        epochs = counted;
        row = await cache.get(key, epochs, () => loadCompletely(hash));
        if (!row) return undefined;
      }
      throw new Error(`the epochs of ${name} keep changing`);
    },
  };
}
