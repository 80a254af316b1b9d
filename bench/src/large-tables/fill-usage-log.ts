import { COUNTS_TABLE, USAGE_TABLE } from "@toolgate/key-auth/store/usage";
import type { Pool } from "@toolgate/postgres/pool";
import { addPartitions, type Day, fillDays, lastDays } from "./filling.ts";

/** The numbers of keys; a key's id follows from its number. */
export const KEYS = {
  /** Keys of the workspace that is measured. */
  main: 10_000,
  /** The last of these have hardly any calls. */
  quiet: 1_000,
  /** The very last of these have no calls. */
  unused: 100,
  /** Keys of the other workspaces, evenly distributed. */
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

export type UsageLog = { rows: number; partitions: number };

/** The retention of the log. */
const DAYS = 90;
/** The busiest keys have most of the calls: the first of N keys has N^(-1/4) of them. */
const SKEW = 4;
const OTHERS_SHARE = 0.2;
/** Old calls of keys that are hardly used any more. */
const QUIET_CALLS = 12;
const QUIET_DAY = 20;

/** Fills the log of calls, and the counters that key-auth keeps alongside, as if the calls had been made. */
export async function fillUsageLog(
  pool: Pool,
  { rows, now, signal }: { rows: number; now: Date; signal: AbortSignal },
): Promise<UsageLog> {
  const days = lastDays(DAYS, now);
  await addPartitions(pool, [USAGE_TABLE], days);
  await addPartitions(pool, [COUNTS_TABLE], days.slice(-2));
  const perDay = Math.ceil(rows / days.length);
  await fillDays(pool, { tables: [USAGE_TABLE], days, signal }, (day) => fillDay(pool, day, perDay));
  await addQuietCalls(pool, days[QUIET_DAY] as Day);
  await countCalls(pool, now);
  const counted = await pool.query(`select count(*) from ${USAGE_TABLE}`);
  return { rows: counted.rows[0].count, partitions: days.length };
}

async function fillDay(pool: Pool, day: Day, rows: number): Promise<void> {
  const busy = KEYS.main - KEYS.quiet;
  await pool.query(
    `insert into key_auth.api_key_requests (id, key_id, tool, status, duration_ms, ip, at)
     select gen_random_uuid(),
       ${keyIdSql(`case when owner < ${OTHERS_SHARE} then ${KEYS.main} + ceil(which * ${KEYS.others})
         else ceil(power(which, ${SKEW}) * ${busy}) end`)},
       'tool_' || n % ${TOOLS},
       case when outcome < 0.02 then 429 when outcome < 0.05 then 400 else 200 end,
       (5 + outcome * 100)::int,
       '203.0.113.' || n % 256,
       $1::timestamptz + n * ($2::timestamptz - $1::timestamptz) / $3::int
     from (
       select n, random() as owner, 1 - random() as which, random() as outcome from generate_series(0, $3::int - 1) n
     ) made`,
    [day.from, day.to, rows],
  );
}

async function addQuietCalls(pool: Pool, day: Day): Promise<void> {
  await pool.query(
    `insert into key_auth.api_key_requests (id, key_id, tool, status, duration_ms, ip, at)
     select gen_random_uuid(), ${keyIdSql("k")}, 'tool_1', 200, 10, '203.0.113.1', $1::timestamptz + c * interval '1 hour'
     from generate_series(${KEYS.main - KEYS.quiet + 1}, ${KEYS.main - KEYS.unused}) k
       cross join generate_series(1, ${QUIET_CALLS}) c`,
    [day.from],
  );
}

async function countCalls(pool: Pool, now: Date): Promise<void> {
  await pool.query(
    `insert into key_auth.api_key_request_counts (key_id, width_s, start, calls)
     select key_id, width.s, to_timestamp(floor(extract(epoch from at) / width.s) * width.s), count(*)
     from key_auth.api_key_requests cross join (values (60), (3600)) as width (s)
     where status <> 429 and at > $1::timestamptz - interval '24 hours'
     group by 1, 2, 3`,
    [now],
  );
  await pool.query(
    `update key_auth.keys k set calls_total = used.calls, last_used_at = used.last_at
     from (
       select key_id, count(*) filter (where status <> 429) as calls, max(at) as last_at
       from key_auth.api_key_requests group by key_id
     ) used
     where k.id = used.key_id`,
  );
  await pool.query("vacuum (analyze) key_auth.keys");
  await pool.query("analyze key_auth.api_key_request_counts");
}
