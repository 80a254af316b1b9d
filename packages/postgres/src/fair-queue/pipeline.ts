import pg from "pg";
import { createPool, type Pool, type PoolOptions } from "../pool.ts";

/** One statement of a pipelined transaction. The name makes it a prepared statement; equal names mean equal text. */
export interface Statement {
  name: string;
  text: string;
  values: unknown[];
}

/**
 * Queue tables swing between empty and very long, so that statistics are no guide and a plan that was good for an
 * empty table is fatal for a full one: no sequential scans, one plan per statement, no compilation.
 */
const SESSION_SETTINGS = "set enable_seqscan = off; set plan_cache_mode = force_generic_plan; set jit = off";

/**
 * A pool whose connections send statements without waiting for the answers to earlier ones, for `pipelined` alone.
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

/** How a pipelined transaction ends. */
export interface CommitOptions {
  /**
   * Gives up the locks before the disk has it, so that nobody waits for the disk but the caller. Others may act on what
   * a crash of the server then takes back, with what they made of it: for work that is repeated in this case.
   */
  unlockEarly?: boolean;
}

const BEGIN_UNLOCKING_EARLY = "begin; set local synchronous_commit = off";
/** The message is a record that has to reach the disk with its transaction, and so everything before it. */
const COMMIT_UNLOCKING_EARLY = "commit; select pg_logical_emit_message(true, 'fair_queue', '')";

/**
 * Runs the statements as one transaction in one round trip: all are sent at once, the commit too. A later statement
 * can't use an earlier one's rows, but sees what it did and starts with a snapshot of its own, taken after the earlier
 * one's locks. When one fails, none has any effect and the first failure is thrown. Returns the results in order, once
 * all of it is on disk (unless a statement turns off that wait for its transaction).
 */
export async function pipelined(
  pool: Pool,
  statements: readonly Statement[],
  { unlockEarly = false }: CommitOptions = {},
): Promise<pg.QueryResult[]> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  client.on("error", onError);
  try {
    const begun = client.query(unlockEarly ? BEGIN_UNLOCKING_EARLY : "begin");
    const running = statements.map((statement) => client.query(statement));
    const ended = client.query(unlockEarly ? COMMIT_UNLOCKING_EARLY : "commit");
    const outcomes = await Promise.allSettled([begun, ...running, ended]);
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed) throw failed.reason;
    return outcomes.slice(1, -1).map((outcome) => (outcome as PromiseFulfilledResult<pg.QueryResult>).value);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) broken ??= error as Error;
    throw error;
  } finally {
    client.off("error", onError);
    client.release(broken);
  }
}
