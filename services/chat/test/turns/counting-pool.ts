import type { Pool } from "@toolgate/postgres/pool";
import type { PoolClient } from "pg";

/** Rows that transactions have read, by table. */
export type RowsRead = Map<string, number>;

const READ = `select relname as name, seq_tup_read + coalesce(idx_tup_fetch, 0) as rows
from pg_stat_xact_all_tables where schemaname = 'chat'`;

/**
 * A pool whose transactions add up the rows that they read. The pool must have one connection, so that every statement
 * keeps its plan.
 */
export function countingPool(pool: Pool, read: RowsRead): Pool {
  const add = async (client: PoolClient) => {
    const { rows } = await client.query(READ);
    for (const { name, rows: count } of rows) read.set(name, (read.get(name) ?? 0) + Number(count));
  };
  const query = async (...args: Parameters<PoolClient["query"]>) => {
    const client = await pool.connect();
    try {
      await client.query("begin");
      const result = await client.query(...args);
      await add(client);
      await client.query("commit");
      return result;
    } finally {
      client.release();
    }
  };
  const connect = async () => {
    const client = await pool.connect();
    const counted = async (...args: Parameters<PoolClient["query"]>) => {
      const isEnd = typeof args[0] === "string" && (args[0] as string).startsWith("commit");
      // Sent before the commit, without waiting, as the statements of a pipeline are.
      const added = isEnd ? add(client) : undefined;
      const result = client.query(...args);
      await added;
      return result;
    };
    return new Proxy(client, {
      get(target, name) {
        if (name === "query") return counted;
        const value = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  };
  return { query, connect } as unknown as Pool;
}
