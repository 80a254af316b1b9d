import { queryBounded } from "@toolgate/postgres/bounded-query";
import type { ForeignClient } from "@toolgate/postgres/foreign-client";
import { type ForeignPool, Unreachable } from "@toolgate/postgres/foreign-pool";
import { isDeeperThan } from "../domain/json-object.ts";
import { ToolError } from "./run-scope.ts";

export interface Statement {
  text: string;
  values: unknown[];
  /** [RO] Runs in a read-only transaction that is rolled back, whatever the statement says. */
  readOnly: boolean;
  /** Commits what it wrote; otherwise it is rolled back. */
  keep: boolean;
  timeoutMs: number;
}

export interface StatementResult {
  rows: Record<string, unknown>[];
  row_count: number;
}

const MAX_ROWS = 1_000;
const MAX_VALUE_LEVELS = 64;
/** The list and the row around a value. */
const LEVELS_OF_ROWS = 2;
const MAX_RESULT_BYTES = 4 * 1024 * 1024;
/** The database gives up so much before we hang up, and its connection stays good. */
const HANG_UP_MARGIN_MS = 100;

/** Runs one statement in a transaction. The signal hangs up. Rejects with a ToolError. */
export async function runStatement(
  pool: ForeignPool,
  statement: Statement,
  signal: AbortSignal,
): Promise<StatementResult> {
  let used: ForeignClient | undefined;
  try {
    return await pool.run({ signal, maxBytes: MAX_RESULT_BYTES }, (client) => {
      used = client;
      return inTransaction(client, statement);
    });
  } catch (error) {
    if (error instanceof ToolError) throw error;
    if (used?.sentTooMuch) {
      throw new ToolError("RESULT_TOO_LARGE", `the result is larger than ${MAX_RESULT_BYTES} bytes: add a limit`);
    }
    const { code, message } = error as Error & { code?: string };
    if (error instanceof Unreachable) throw new ToolError("DATA_SOURCE", "the data source is not reachable", message);
    throw new ToolError("QUERY_FAILED", `the query failed${code ? ` (SQLSTATE ${code})` : ""}`, message);
  }
}

async function inTransaction(
  client: ForeignClient,
  { text, values, readOnly, keep, timeoutMs }: Statement,
): Promise<StatementResult> {
  const timeout = Math.max(1, Math.floor(timeoutMs - HANG_UP_MARGIN_MS));
  await client.query(`begin ${readOnly ? "read only" : "read write"}; set local statement_timeout = ${timeout}`);
  try {
    const { rows, rowCount, more } = await queryBounded(client, { text, values }, MAX_ROWS);
    if (more) throw new ToolError("TOO_MANY_ROWS", `more than ${MAX_ROWS} rows: add a limit`);
    if (isDeeperThan(rows, MAX_VALUE_LEVELS + LEVELS_OF_ROWS)) {
      throw new ToolError("RESULT_TOO_DEEP", `a value is nested more than ${MAX_VALUE_LEVELS} levels deep`);
    }
    await client.query(keep ? "commit" : "rollback");
    return { rows, row_count: rowCount ?? 0 };
  } catch (error) {
    // Where this fails too, the pool sees that the transaction is open and throws the connection away.
    await client.query("rollback").catch(() => {});
    throw error;
  }
}
