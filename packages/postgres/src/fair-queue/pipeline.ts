import pg from "pg";
import { createPool, type Pool, type PoolOptions, withClient } from "../pool.ts";

/** One statement of a pipelined transaction. It is prepared under its name, so equal names mean equal text. */
export interface Statement {
  name: string;
  text: string;
  values: unknown[];
}

/**
 * Queue tables alternate between empty and very long, so statistics mislead the planner, and a plan for an empty table
 * is disastrous for a full one. Hence no sequential scans, one plan per statement, and no JIT.
 */
const SESSION_SETTINGS = "set enable_seqscan = off; set plan_cache_mode = force_generic_plan; set jit = off";

/**
 * A pool whose connections send statements without waiting for the results of earlier ones; only for `pipelined`.
 * @param options as for `createPool`
 */
export function createPipelinePool(options: PoolOptions): Pool {
  const pool = createPool(options);
  const settings = pool.options as pg.PoolConfig & { pipeline?: boolean };
  settings.pipeline = true;
  pool.on("connect", (client) => {
    client.query(SESSION_SETTINGS).catch(() => {});
  });
  return pool;
}

interface TransactionOptions {
  /**
   * Releases the locks before the commit is on disk, so that only the caller waits for the disk. A crash of the server
   * may then undo changes that others have already seen, and what they did as a result: only for work that is repeated
   * in that case.
   */
  unlockEarly?: boolean;
  /** Longest wait of a statement for a lock. Default: only limited by the statement's own timeout. */
  lockTimeoutMs?: number;
  /** Longest time of each statement before the commit. Default: that of the pool. */
  statementTimeoutMs?: number;
  /**
   * If no connection is free by this time, on the clock of `performance.now`, nothing is sent and an error is thrown.
   */
  sendBefore?: number;
}

/** Flushing this message to disk also flushes everything before it. */
const COMMIT_UNLOCKING_EARLY = "commit; select pg_logical_emit_message(true, 'fair_queue', '')";

/**
 * Runs the statements as one transaction in one round trip: all are sent together, including the commit. A later
 * statement cannot use the rows that an earlier one returned, but sees its changes; its snapshot is taken after the
 * earlier one's locks. When one fails, none has any effect and the first failure is thrown. Returns the results in
 * order, once everything is on disk (unless a statement turns that off for its transaction). No timeout ends the commit
 * itself: it takes as long as the disk.
 */
export function pipelined(
  pool: Pool,
  statements: readonly Statement[],
  options: TransactionOptions = {},
): Promise<pg.QueryResult[]> {
  const { unlockEarly = false, sendBefore = Number.POSITIVE_INFINITY } = options;
  return withClient(pool, async (client, discard) => {
    if (performance.now() > sendBefore) throw new Error("no connection was free in time, so nothing was sent");
    const { stream } = client.connection;
    // One write for all of them; pg itself would make one for each.
    stream.cork();
    const begun = client.query(beginText(options));
    const running = statements.map((statement) => client.query(statement));
    const ended = client.query(unlockEarly ? COMMIT_UNLOCKING_EARLY : "commit");
    stream.uncork();
    const outcomes = await Promise.allSettled([begun, ...running, ended]);
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (!failed) {
      return outcomes.slice(1, -1).map((outcome) => (outcome as PromiseFulfilledResult<pg.QueryResult>).value);
    }
    if (!(failed.reason instanceof pg.DatabaseError)) discard(failed.reason);
    throw failed.reason;
  });
}

function beginText({ unlockEarly, lockTimeoutMs, statementTimeoutMs }: TransactionOptions): string {
  const parts = ["begin"];
  if (unlockEarly) parts.push("set local synchronous_commit = off");
  if (lockTimeoutMs !== undefined) parts.push(`set local lock_timeout = ${Math.trunc(lockTimeoutMs)}`);
  if (statementTimeoutMs !== undefined) parts.push(`set local statement_timeout = ${Math.trunc(statementTimeoutMs)}`);
  return parts.join("; ");
}
