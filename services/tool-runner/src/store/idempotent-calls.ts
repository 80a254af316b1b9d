import { type Client, inTransaction, type Pool, type Queryable } from "@toolgate/postgres/pool";

export const IDEMPOTENT_CALLS_TABLE = "tool_runner.idempotent_calls";
export const IDEMPOTENT_BYTES_TABLE = "tool_runner.idempotent_bytes";

/** Identifies the calls that share one run: those with the same API key, tool and idempotency key. */
export interface IdempotentCall {
  keyId: string;
  tool: string;
  idempotencyKey: string;
}

export interface CallRow {
  claimedAt: Date;
  bodyHash: Buffer;
  state: "running" | "ok" | "failed" | "interrupted";
  leaseUntil: Date;
  executionId: string;
  durationMs: number;
  sealedResult: Buffer | null;
}

const COLUMNS = `claimed_at as "claimedAt", body_hash as "bodyHash", state, lease_until as "leaseUntil",
  execution_id as "executionId", duration_ms as "durationMs",
  sealed_result as "sealedResult"`;
const SAME_CALL = "key_id = $1 and tool = $2 and idempotency_key = $3";
const keyColumnsOf = ({ keyId, tool, idempotencyKey }: IdempotentCall) => [keyId, tool, idempotencyKey];

/**
 * Claims a call for one run, or returns the row that has claimed it. A running row whose lease is over is returned
 * as interrupted. Rows claimed at or before `forgetBefore` no longer count.
 */
export async function claimCall(
  pool: Pool,
  idempotentCall: IdempotentCall,
  claim: { bodyHash: Buffer; now: Date; leaseUntil: Date; forgetBefore: Date },
): Promise<{ claimed: true } | { claimed: false; row: CallRow }> {
  return inTransaction(pool, async (client) => {
    // A unique index cannot span partitions, and the 24 hours span two of them.
    await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [
      JSON.stringify(keyColumnsOf(idempotentCall)),
    ]);
    const row = await findCall(client, idempotentCall, claim.forgetBefore);
    if (row) return { claimed: false, row: await interruptedIfLapsed(client, idempotentCall, row, claim.now) };
    await client.query(
      `insert into tool_runner.idempotent_calls
         (key_id, tool, idempotency_key, claimed_at, body_hash, state, lease_until)
       values ($1, $2, $3, $4, $5, 'running', $6)`,
      [...keyColumnsOf(idempotentCall), claim.now, claim.bodyHash, claim.leaseUntil],
    );
    return { claimed: true };
  });
}

/** The row that has claimed the call, if any. */
async function findCall(
  db: Queryable,
  idempotentCall: IdempotentCall,
  forgetBefore: Date,
): Promise<CallRow | undefined> {
  const found = await db.query(
    `select ${COLUMNS} from tool_runner.idempotent_calls where ${SAME_CALL} and claimed_at > $4
     order by claimed_at desc limit 1`,
    [...keyColumnsOf(idempotentCall), forgetBefore],
  );
  return found.rows[0];
}

async function interruptedIfLapsed(
  client: Client,
  idempotentCall: IdempotentCall,
  row: CallRow,
  now: Date,
): Promise<CallRow> {
  if (row.state !== "running" || row.leaseUntil > now) return row;
  const ended = await client.query(
    `update tool_runner.idempotent_calls set state = 'interrupted'
     where ${SAME_CALL} and claimed_at = $4 and state = 'running' returning ${COLUMNS}`,
    [...keyColumnsOf(idempotentCall), row.claimedAt],
  );
  return ended.rows[0] ?? { ...row, state: "interrupted" };
}

interface EndedCall {
  state: "ok" | "failed" | "interrupted";
  executionId: string;
  durationMs: number;
  /** Kept while the key's calls of this hour have stored no more than `maxBytesPerHour`. */
  sealedResult: Buffer | null;
  maxBytesPerHour: number;
}

/** Stores how the claimed run ended. False when the lease was over and a repeat has already marked it as interrupted. */
export async function storeOutcome(
  db: Queryable,
  idempotentCall: IdempotentCall,
  claimedAt: Date,
  { state, executionId, durationMs, sealedResult, maxBytesPerHour }: EndedCall,
): Promise<boolean> {
  const settled = await db.query(
    `with kept as (
       insert into tool_runner.idempotent_bytes as stored (key_id, hour, bytes)
       select $1, date_trunc('hour', $4::timestamptz), octet_length($8::bytea)
       where octet_length($8::bytea) <= $9
       on conflict (key_id, hour) do update set bytes = stored.bytes + excluded.bytes
       where stored.bytes + excluded.bytes <= $9
       returning true
     )
     update tool_runner.idempotent_calls set state = $5, execution_id = $6, duration_ms = $7,
       sealed_result = case when exists (select from kept) then $8::bytea end
     where ${SAME_CALL} and claimed_at = $4 and state = 'running'`,
    [...keyColumnsOf(idempotentCall), claimedAt, state, executionId, durationMs, sealedResult, maxBytesPerHour],
  );
  return settled.rowCount === 1;
}

/** Deletes the claim of a run that never started. */
export async function releaseCall(db: Queryable, idempotentCall: IdempotentCall, claimedAt: Date): Promise<void> {
  await db.query(
    `delete from tool_runner.idempotent_calls where ${SAME_CALL} and claimed_at = $4 and state = 'running'`,
    [...keyColumnsOf(idempotentCall), claimedAt],
  );
}
