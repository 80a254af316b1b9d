import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { publishDurably } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import { AuditBatchSchema, AuditRecordSchema } from "@toolgate/gen/toolgate/events/v1/audit_pb";
import { measureQueue } from "@toolgate/postgres/measure";
import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import { runEvery } from "@toolgate/service-host/every";
import { lastEntry } from "./write.ts";

/** The subject on which entries travel to the owner of the audit log. */
export const AUDIT_SUBJECT = "records.audit";

const ENTRIES_PER_MESSAGE = 200;
const PUBLISH_DEADLINE_MS = 5_000;
const POLL_EVERY_MS = 1_000;
/** How long after an entry was written its transaction may end. */
const COMMITTED_WITHIN_MS = 10_000;
/** Entries of another replica, which it could not relay, are looked for this often. */
const LOOK_FOR_OTHERS_EVERY_MS = 10_000;

interface RelayOptions {
  pool: Pool;
  /** Schema of the table `audit_outbox`; a constant of the caller, never input. */
  schema: string;
  bus: Bus;
}

/**
 * Publishes the oldest entries that no other replica is publishing, and deletes them once the broker has written them.
 * After a crash in between they are published again, under the same ids. Returns how many there were. Rejects while the
 * broker is down, and keeps the entries.
 */
export async function relayAuditEntries({ pool, schema, bus }: RelayOptions): Promise<number> {
  // Nearly always nothing waits, and a transaction costs three round trips.
  const { rows: found } = await pool.query(`select exists (select from ${schema}.audit_outbox) as waiting`);
  if (!found[0].waiting) return 0;
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query(
      `select id, record from ${schema}.audit_outbox order by at, id limit ${ENTRIES_PER_MESSAGE} for update skip locked`,
    );
    if (rows.length === 0) return 0;
    const records = rows.map(({ record }) => fromBinary(AuditRecordSchema, record));
    const batch = toBinary(AuditBatchSchema, create(AuditBatchSchema, { records }));
    await publishDurably(bus, AUDIT_SUBJECT, batch, PUBLISH_DEADLINE_MS);
    await client.query(`delete from ${schema}.audit_outbox where id = any($1::uuid[])`, [rows.map(({ id }) => id)]);
    return rows.length;
  });
}

/** Whether a look is worth its statement: nearly always nothing has been written since the last one. All in milliseconds. */
export function mayFindEntries(at: { now: number; nothingFoundAt: number; writtenAt: number }): boolean {
  return at.now - at.writtenAt < COMMITTED_WITHIN_MS || at.now - at.nothingFoundAt >= LOOK_FOR_OTHERS_EVERY_MS;
}

/**
 * Relays entries until the signal fires. Those of this process every second, without a pause while there are many, and a last
 * time at the end; those that a replica left behind within ten seconds.
 */
export async function runAuditRelay(
  options: RelayOptions & { signal: AbortSignal; onError: (error: unknown) => void },
): Promise<void> {
  const { pool, schema, signal, onError } = options;
  const table = `${schema}.audit_outbox`;
  using _ = measureQueue(pool, { queue: table, table, due: "at" });
  let nothingFoundAt = Number.NEGATIVE_INFINITY;
  const relayAll = async () => {
    const now = performance.now();
    if (!mayFindEntries({ now, nothingFoundAt, writtenAt: lastEntry.writtenAt })) return;
    nothingFoundAt = Number.NEGATIVE_INFINITY;
    while ((await relayAuditEntries(options)) === ENTRIES_PER_MESSAGE && !signal.aborted);
    nothingFoundAt = now;
  };
  await runEvery(POLL_EVERY_MS, signal, relayAll, onError);
  await relayAll().catch(onError);
}
