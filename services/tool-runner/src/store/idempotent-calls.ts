import { inTransaction, type Pool, type Queryable } from "@toolgate/postgres/pool";
import { firstRow } from "./rows.ts";

export const IDEMPOTENT_CALLS_TABLE = "tool_runner.idempotent_calls";
export const IDEMPOTENT_BYTES_TABLE = "tool_runner.idempotent_bytes";

/** Identifies the calls that share one run: those with the same API key, tool and idempotency key. */
export interface IdempotentCall {
  keyId: string;
  tool: string;
  idempotencyKey: string;
}

/** Bytes of results that the calls of one API key may store in an hour; calls beyond it run once but cannot be replayed. */
const MAX_BYTES_PER_HOUR = 128 * 1024 * 1024;

export interface CallRow {
  claimedAt: Date;
  bodyHash: Buffer;
  state: "running" | "ok" | "failed" | "interrupted";
  leaseUntil: Date;
  executionId: string;
  durationMs: number;
  sealedResult: Buffer | null;
}

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
    const key = keyColumnsOf(idempotentCall);
    // A unique index cannot span partitions, and the 24 hours span two of them.
    await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [JSON.stringify(key)]);
    const row = await firstRow<CallRow>(
      client,
      `select claimed_at as "claimedAt", body_hash as "bodyHash", state, lease_until as "leaseUntil",
         execution_id as "executionId", duration_ms as "durationMs", sealed_result as "sealedResult"
       from tool_runner.idempotent_calls where ${SAME_CALL} and claimed_at > $4 order by claimed_at desc limit 1`,
      [...key, claim.forgetBefore],
    );
    if (row?.state === "running" && row.leaseUntil <= claim.now) {
      await storeOutcome(client, idempotentCall, row.claimedAt, INTERRUPTED);
      row.state = "interrupted";
    }
    if (row) return { claimed: false, row };
    await client.query(
      `insert into tool_runner.idempotent_calls
         (key_id, tool, idempotency_key, claimed_at, body_hash, state, lease_until)
       values ($1, $2, $3, $4, $5, 'running', $6)`,
      [...key, claim.now, claim.bodyHash, claim.leaseUntil],
    );
    return { claimed: true };
  });
}

/** The outcome of a run of which nobody knows how it ended. */
export const INTERRUPTED = { state: "interrupted", executionId: "", durationMs: 0, sealedResult: null } as const;

interface EndedCall {
  state: "ok" | "failed" | "interrupted";
  executionId: string;
  durationMs: number;
  /** Kept while the key's calls of this hour have stored no more than `MAX_BYTES_PER_HOUR`. */
  sealedResult: Buffer | null;
}

/** Stores how the claimed run ended. False when the lease was over and a repeat has already marked it as interrupted. */
export async function storeOutcome(
  db: Queryable,
  idempotentCall: IdempotentCall,
  claimedAt: Date,
  { state, executionId, durationMs, sealedResult }: EndedCall,
): Promise<boolean> {
  const settled = await db.query(
    `with kept as (
       insert into tool_runner.idempotent_bytes as stored (key_id, hour, bytes)
       select $1, date_trunc('hour', $4::timestamptz), octet_length($8::bytea)
       where octet_length($8::bytea) <= ${MAX_BYTES_PER_HOUR}
       on conflict (key_id, hour) do update set bytes = stored.bytes + excluded.bytes
       where stored.bytes + excluded.bytes <= ${MAX_BYTES_PER_HOUR}
       returning true
     )
     update tool_runner.idempotent_calls set state = $5, execution_id = $6, duration_ms = $7,
       sealed_result = case when exists (select from kept) then $8::bytea end
     where ${SAME_CALL} and claimed_at = $4 and state = 'running'`,
    [...keyColumnsOf(idempotentCall), claimedAt, state, executionId, durationMs, sealedResult],
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
