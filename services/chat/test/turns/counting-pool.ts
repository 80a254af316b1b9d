import type { Pool } from "@toolgate/postgres/pool";
import type { PoolClient } from "pg";

/** Rows that statements have read, by statement and table. */
export type RowsRead = Map<string, number>;

const READ = `select relname as name, seq_tup_read + coalesce(idx_tup_fetch, 0) as rows
from pg_stat_xact_all_tables where schemaname = 'chat'`;

type Statement = string | { name?: string; text: string };

/**
 * A pool that counts what each statement reads. The pool must have one connection, so that every statement keeps its plan.
 */
export function countingPool(pool: Pool, read: RowsRead): Pool {
  const query = async (...args: [Statement, unknown[]?]) => {
    const client = await pool.connect();
    try {
      const counting = countingQuery(client, read);
      await counting("begin");
      const result = await counting(...args);
      await client.query("commit");
      return result;
    } finally {
      client.release();
    }
  };
  const connect = async () => {
    const client = await pool.connect();
    const counting = countingQuery(client, read);
    return new Proxy(client, {
      get(target, name) {
        if (name === "query") return counting;
        const value = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  };
  return { query, connect } as unknown as Pool;
}

/** The server's counts go on from one transaction to the next, until it happens to report them. */
function countingQuery(client: PoolClient, read: RowsRead) {
  let before = new Map<string, number>();
  return async (...args: [Statement, unknown[]?]) => {
    const [statement] = args;
    const text = typeof statement === "string" ? statement : (statement.name ?? statement.text);
    const result = client.query(statement as string, args[1]);
    if (/^(commit|rollback)/.test(text)) return result;
    // Sent without waiting for the result, as the statements of a pipeline are.
    const { rows } = await client.query(READ);
    const after = new Map<string, number>(rows.map((row) => [row.name, Number(row.rows)]));
    for (const [name, total] of text.startsWith("begin") ? [] : after) {
      const key = `${text.slice(0, MAX_KEY)}: ${name}`;
      read.set(key, (read.get(key) ?? 0) + total - (before.get(name) ?? 0));
    }
    before = after;
    return result;
  };
}

const MAX_KEY = 60;
