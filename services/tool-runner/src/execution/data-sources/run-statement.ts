import { setTimeout as delay } from "node:timers/promises";
import { isDeeperThan, isJsonObject } from "@toolgate/rules/json-object";
import pg from "pg";
import { ToolError } from "../errors.ts";
import type { ForeignClient } from "./foreign-client.ts";
import { type ForeignPool, Unreachable } from "./foreign-pool.ts";

export interface Statement {
  text: string;
  values: unknown[];
  /** [RO] Uses a read-only transaction. */
  readOnly: boolean;
  /** Whether to commit the transaction or roll it back. */
  keep: boolean;
  timeoutMs: number;
}

export interface StatementResult {
  /** An array as JSON text. */
  rowsJson: string;
  rowCount: number;
}

const MAX_ROWS = 1_000;
const MAX_VALUE_LEVELS = 64;
const MAX_RESULT_BYTES = 4 * 1024 * 1024;
/** The server sends a column's name once, the JSON text has it in every row. */
const MAX_JSON_CHARACTERS = 8 * 1024 * 1024;
/**
 * The database cancels the statement this long before the connection would be closed, so that the connection can be
 * used again.
 */
const CANCEL_MARGIN_MS = 100;
/** How long the rest of a refused result, and the rollback, may take: longer than the way to a server far away. */
const ROLLBACK_WITHIN_MS = 1_000;
/** Oids of json and jsonb, and of their arrays. */
const JSON_TYPES = [114, 3802];
const JSON_ARRAY_TYPES = [199, 3807];
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Runs one statement in a transaction. The signal closes the connection. Rejects with a ToolError. */
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
    throw toolErrorOf(error, used?.sentTooMuch ?? false);
  }
}

function toolErrorOf(error: unknown, sentTooMuch: boolean): ToolError {
  if (error instanceof ToolError) return error;
  if (sentTooMuch) {
    return new ToolError("RESULT_TOO_LARGE", `the result is larger than ${MAX_RESULT_BYTES} bytes: add a limit`);
  }
  const { code = "", message } = error as Error & { code?: string };
  if (error instanceof Unreachable) return new ToolError("DATA_SOURCE", "the data source is not reachable", message);
  // The server chooses the code too, and its length.
  return new ToolError("QUERY_FAILED", `the query failed${SQLSTATE.test(code) ? ` (SQLSTATE ${code})` : ""}`, message);
}

async function inTransaction(
  client: ForeignClient,
  { text, values, readOnly, keep, timeoutMs }: Statement,
): Promise<StatementResult> {
  const timeout = Math.max(1, Math.floor(timeoutMs - CANCEL_MARGIN_MS));
  await client.query(
    `begin ${readOnly ? "read only" : "read write"}; set local statement_timeout = ${timeout}; set local datestyle = 'ISO'`,
  );
  try {
    const bound = values.some(Array.isArray) ? await listsBound(client, text, values) : values;
    // Each row is converted when it arrives, so that it is not kept with all the others.
    const rows: string[] = [];
    let charactersLeft = MAX_JSON_CHARACTERS;
    const { rowCount } = await queryRows(client, oneStatement(text, bound), (row) => {
      if (rows.length === MAX_ROWS) throw new ToolError("TOO_MANY_ROWS", `more than ${MAX_ROWS} rows: add a limit`);
      // A value is nested in its row.
      if (isDeeperThan(row, MAX_VALUE_LEVELS + 1)) {
        throw new ToolError("RESULT_TOO_DEEP", `a value is nested more than ${MAX_VALUE_LEVELS} levels deep`);
      }
      const json = JSON.stringify(row);
      charactersLeft -= json.length;
      if (charactersLeft < 0) throw new ToolError("RESULT_TOO_LARGE", "the rows are too large as JSON: add a limit");
      rows.push(json);
    });
    await client.query(keep ? "commit" : "rollback");
    return { rowsJson: `[${rows.join()}]`, rowCount: rowCount ?? 0 };
  } catch (error) {
    // If this fails too, or is late, the pool sees the open transaction and discards the connection.
    await Promise.race([client.query("rollback").catch(() => {}), delay(ROLLBACK_WITHIN_MS)]);
    throw error;
  }
}

/** In the extended protocol, in which a server refuses a text of several statements, such as one that ends the transaction. */
function oneStatement(text: string, values: unknown[] = []): pg.QueryConfig {
  return { text, values, queryMode: "extended" } as pg.QueryConfig;
}

/**
 * Passes each row to `onRow` when it arrives, and rejects when it throws. The rest is then read and dropped before the
 * next query of the client, so that the connection stays usable.
 */
function queryRows(
  client: ForeignClient,
  config: pg.QueryConfig,
  onRow: (row: Record<string, unknown>) => void,
): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const query = new pg.Query(config).on("end", resolve).on("error", reject);
    query.on("row", function pass(row) {
      try {
        onRow(row);
      } catch (error) {
        query.off("row", pass);
        reject(error);
      }
    });
    client.query(query);
  });
}

/** Lists as what the parameters are: JSON, or arrays of PostgreSQL. */
async function listsBound(client: ForeignClient, text: string, values: readonly unknown[]): Promise<unknown[]> {
  await client.query(oneStatement(`prepare toolgate_parameters as ${text}`));
  const { rows } = await client.query<{ types: string[] }>(
    `select array(select type::oid::int from unnest(parameter_types) type) as types
     from pg_prepared_statements where name = 'toolgate_parameters'`,
  );
  await client.query("deallocate toolgate_parameters");
  return values.map((value, index) => {
    if (!Array.isArray(value)) return value;
    const type = Number(rows[0]?.types[index]);
    if (JSON_TYPES.includes(type)) return JSON.stringify(value);
    const isJson = JSON_ARRAY_TYPES.includes(type);
    return value.map((item) => (isJson || isJsonObject(item) ? JSON.stringify(item) : item));
  });
}
