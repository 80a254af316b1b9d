import type { Pool } from "@toolgate/postgres/pool";

/** The numbers of keys; a key's id follows from its number. */
export const KEYS = {
  /** Of the workspace that is asked about. */
  main: 10_000,
  /** The last ones of these have hardly any calls … */
  quiet: 1_000,
  /** … and the very last ones none. */
  unused: 100,
  /** Of other workspaces, evenly. */
  others: 5_000,
} as const;

export const TOOLS = 200;
const TOOLS_PER_KEY = 5;

/** An expression of the id of key number `number`. */
export const keyIdSql = (number: string) => `md5('key ' || (${number}))::uuid`;

/** Keys 1 to 10,000 belong to the first workspace, the others to the rest of them in turn. */
export async function fillKeys(pool: Pool, workspaceIds: readonly string[]): Promise<void> {
  await pool.query(
    `insert into key_auth.keys
       (id, workspace_id, name, secret_hash, prefix, tools, call_limit, expires_at, revoked_at, created_at, created_by)
     select ${keyIdSql("n")},
       ($1::uuid[])[case when n <= $2 then 1 else 2 + n % (cardinality($1::uuid[]) - 1) end],
       'Customer ' || (n * 7919) % 10007 || ', key ' || n,
       sha256(convert_to('key ' || n, 'UTF8')),
       'svc_live_' || substr(md5(n::text), 1, 6),
       array(select 'tool_' || (n + t * 37) % $4 from generate_series(1, $5) t),
       60,
       case when n % 10 = 3 then now() - interval '3 days' when n % 10 = 4 then now() + interval '90 days' end,
       case when n % 10 = 7 then now() - interval '5 days' end,
       now() - interval '90 days' + (n * 7919) % 15013 * interval '8 minutes',
       'bench'
     from generate_series(1, $2::int + $3::int) n`,
    [workspaceIds, KEYS.main, KEYS.others, TOOLS, TOOLS_PER_KEY],
  );
  await pool.query("vacuum (analyze) key_auth.keys");
}
