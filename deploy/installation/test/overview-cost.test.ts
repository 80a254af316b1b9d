import { randomUUID } from "node:crypto";
import { countAnswersByHour, listFailingAssistants } from "@toolgate/chat/store/overview";
import { countCallsByHour } from "@toolgate/key-auth/store/overview";
import { countDeliveriesByHour, hasTestDelivery } from "@toolgate/outbound-webhook/store/overview";
import { migrate } from "@toolgate/postgres/migrate";
import { ensureDailyPartitions } from "@toolgate/postgres/partitions";
import { createPool, type Pool, type Queryable } from "@toolgate/postgres/pool";
import { countsByHour, firstOfHours } from "@toolgate/service-host/time";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { SERVICE_NAMES, serviceEntry } from "@toolgate/service-registry/services";
import { addCost } from "@toolgate/testbed/plan-cost";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { countFailedByHour } from "@toolgate/tool-runner/store/overview";
import { afterAll, beforeAll, expect, test } from "vitest";

const NOW = new Date("2026-11-10T12:34:56Z");
const FIRST_HOUR = firstOfHours(NOW.getTime());
const [WORKSPACE, NEIGHBOUR, KEY] = [randomUUID(), randomUUID(), randomUUID()];
const DAYS = 8;
/** In the history and in the neighbour's day. */
const OTHERS = 60_000;
const BUSY_HOUR = 5;
const BUSY_ROWS = 1_500;
const QUIET_ROWS = 40;
/** In the busy hour the count ends. */
const EXPECTED = Array.from({ length: 24 }, (_, hour) => (hour === BUSY_HOUR ? 1_000 : QUIET_ROWS));
const COUNTED = EXPECTED.reduce((sum, count) => sum + count, 0);
/** Each of the 24 scans may look at the first row of each partition and half of the log. */
const MAX_ROWS_READ = COUNTED + 24 * 2 * DAYS;

/** Rows (w, n, at, custom): the workspace's 24 hours, its history before them, and a day of a neighbour. */
const ROWS = `(
  select '${WORKSPACE}' as w, n, $1::timestamptz + hour * interval '1 hour' + n * interval '1 second' as at
  from generate_series(0, 23) as hour
  cross join lateral generate_series(1, case when hour = ${BUSY_HOUR} then ${BUSY_ROWS} else ${QUIET_ROWS} end) as n
  union all
  select '${WORKSPACE}', n, $1::timestamptz - interval '1 hour' - n * interval '1 second' from generate_series(1, ${OTHERS}) as n
  union all
  select '${NEIGHBOUR}', n, $1::timestamptz + n * interval '1 second' from generate_series(1, ${OTHERS}) as n
) as made`;

const resources = new AsyncDisposableStack();
let pool: Pool;
beforeAll(async () => {
  const database = resources.use(await testDatabase());
  pool = createPool({ url: database.url, maxConnections: 2, applicationName: "overview" });
  resources.defer(() => pool.end());
  for (const name of SERVICE_NAMES) if (serviceEntry(name).schema) await migrate({ pool, ...migrationsOf(name) });
  const from = new Date(FIRST_HOUR.getTime() - 3 * 86_400_000);
  for (const table of ["tool_runner.executions", "outbound_webhook.delivery", "key_auth.api_key_request_counts"])
    await ensureDailyPartitions(pool, { table, from, days: DAYS });
  await pool.query(
    `insert into tool_runner.executions (id, workspace_id, tool, tool_version, entry_type, chat_id, caller_id, started_at,
       duration_ms, success, error, args, result, read_only)
     select gen_random_uuid(), w::uuid, 't', 1, 'api_key', '', '', at, 1, kind = 'ok', '', '{}', '{}', true
     from ${ROWS} cross join (values ('ok'), ('failed')) as both_kinds (kind)`,
    [FIRST_HOUR],
  );
  await pool.query(
    `insert into outbound_webhook.delivery (created_at, id, workspace_id, endpoint_id, event_created_at, event_id, event_type,
       event_at, kind, status)
     select at, outbound_webhook.delivery_id(at), w, 1, at, 'evt_' || n, case when n % 2 = 0 then 'custom.a' else 'tool.completed' end,
       at, 'event', 'delivered' from ${ROWS}`,
    [FIRST_HOUR],
  );
  const made = await pool.query(
    `insert into chat.chat (workspace_id, chat_id, owner, created_at, used_at) values ($1, 'c', 'u', $2, $2) returning id`,
    [WORKSPACE, NOW],
  );
  await pool.query(
    `insert into chat.turn (id, chat, number, workspace_id, workspace, lane, status, assistant, message, test_mode, user_id,
       request_id, created_at, error_code)
     select gen_random_uuid(), ${made.rows[0].id}, row_number() over (), w, 'w', 'chat', status, 'support', '', false, 'u', '', at,
       case when status = 'failed' then 'MODEL_FAILED' else '' end
     from ${ROWS} cross join (values ('completed'), ('failed')) as both_kinds (status)`,
    [FIRST_HOUR],
  );
  await pool.query("insert into key_auth.workspaces (id, code) values ($1, 'w')", [WORKSPACE]);
  await pool.query(
    `insert into key_auth.keys (id, workspace_id, name, secret_hash, prefix, tools, call_limit, created_by, last_used_at)
     select case when n = 0 then $1::uuid else gen_random_uuid() end, $2, 'k', sha256(n::text::bytea), '', '{}', 1, '',
       case when n = 0 then $3::timestamptz end from generate_series(0, 5000) as n`,
    [KEY, WORKSPACE, NOW],
  );
  await pool.query(
    `insert into key_auth.api_key_request_counts (key_id, width_s, start, calls)
     select key, width, $2::timestamptz + n * width * interval '1 second', 7
     from (select $1::uuid as key union all select gen_random_uuid() from generate_series(1, 400)) as keys cross join (values (60), (3600)) as widths (width)
     cross join generate_series(-40, 23) as n`,
    [KEY, FIRST_HOUR],
  );
  await pool.query("vacuum (analyze)");
});
afterAll(() => resources.disposeAsync());

/** A statement's result, and how many rows it read of tables of this name. */
async function measured<T>(prefix: string, run: (db: Queryable) => Promise<T>): Promise<{ result: T; rows: number }> {
  const cost = { ways: new Set<string>(), rows: 0 };
  const query = async (text: string, values: unknown[]) => {
    await addCost(pool, { text, values, prefix }, cost);
    return pool.query(text, values);
  };
  return { result: await run({ query } as unknown as Queryable), rows: cost.rows };
}

test.each([
  ["failed runs", "executions", (db: Queryable) => countFailedByHour(db, WORKSPACE, FIRST_HOUR)],
  ["deliveries", "delivery", (db: Queryable) => countDeliveriesByHour(db, WORKSPACE, FIRST_HOUR)],
  ["answers", "turn", (db: Queryable) => countAnswersByHour(db, WORKSPACE, FIRST_HOUR)],
] as const)(
  "[NFR] the %s of 24 hours are counted without reading the history or other workspaces",
  async (_, table, count) => {
    const { result, rows } = await measured(table, count);
    expect(result).toEqual(EXPECTED);
    // Of a scan that is repeated, Postgres says the average.
    expect(rows).toBeGreaterThanOrEqual(0.9 * COUNTED);
    expect(rows).toBeLessThanOrEqual(MAX_ROWS_READ);
  },
);

test("[NFR] [KEY-11] the calls of 24 hours come from the hourly counts, of the keys that were used", async () => {
  const { result, rows } = await measured("api_key_request_counts", (db) =>
    countCallsByHour(db, WORKSPACE, FIRST_HOUR),
  );
  expect(countsByHour(FIRST_HOUR, result)).toEqual(Array(24).fill(7));
  expect(rows).toBeLessThanOrEqual(24);
});

test("[NFR] failing assistants and test events are found in few rows", async () => {
  const failing = await measured("turn", (db) => listFailingAssistants(db, WORKSPACE, FIRST_HOUR));
  expect(failing.result).toMatchObject([{ name: "support", failures: COUNTED }]);
  expect(failing.rows).toBeLessThanOrEqual(MAX_ROWS_READ);
  const tests = await measured("delivery", (db) => hasTestDelivery(db, WORKSPACE));
  expect(tests.result).toBe(false);
  expect(tests.rows).toBeLessThanOrEqual(DAYS);
});
