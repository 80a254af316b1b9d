import { randomUUID } from "node:crypto";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { migrate } from "@toolgate/postgres/migrate";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { newTimedId, timeOfId } from "@toolgate/postgres/timed-id";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { expect, test } from "vitest";
import { type AcceptedCall, createStoreCalls } from "../src/store/accept.ts";
import { addActivity } from "../src/store/hook-activity.ts";
import { readDeliveries } from "../src/store/log/read.ts";
import { laneQueue } from "../src/store/queue.ts";
import { loadReceivable } from "../src/store/receivable-hook.ts";
import { maintainPartitions } from "../src/store/retention.ts";
import { type ClaimedDelivery, claimDeliveries } from "../src/store/runs/claim.ts";
import { interruptExpired, renewLeases } from "../src/store/runs/lease.ts";
import { type RunRecord, settleRuns } from "../src/store/runs/settle.ts";

const [HOOK, WORKSPACE] = [1, "w"];
const ROWS = 50_000;
/** Some plans read all of the few hundred groups and members of the queue, but none the long tables. */
const MAX_ROWS_READ = 500;
/** From then on Postgres may use one plan for all values of an ordinary prepared statement. */
const EXECUTIONS_BEFORE_PLAN = 6;

test("[NFR] statements that were planned while the tables were empty read few rows once the tables are long", async () => {
  await using resources = new AsyncDisposableStack();
  const database = resources.use(await testDatabase());
  const open = <P extends Pool>(pool: P) => resources.adopt(pool, (owned) => owned.end());
  const connection = { url: database.url, applicationName: "test" };
  const admin = open(createPool({ ...connection, maxConnections: 1 }));
  await migrate({ pool: admin, ...migrationsOf("inbound-hook") });
  await maintainPartitions(admin, new Date());
  await addHooks(admin, HOOK, HOOK);
  // One connection each, so that later executions have the plans of the first ones.
  const [pool, queuePool] = [
    open(createPool({ ...connection, maxConnections: 1 })),
    open(createPipelinePool({ ...connection, maxConnections: 1 })),
  ];
  for (let time = 0; time < EXECUTIONS_BEFORE_PLAN; time += 1)
    await executeAll(pool, queuePool, (_, execute) => execute());
  await fill(admin);
  const read: Record<string, number> = {};
  await executeAll(pool, queuePool, async (name, execute) => {
    const before = await rowsRead(admin, [pool, queuePool]);
    await execute();
    read[name] = (await rowsRead(admin, [pool, queuePool])) - before;
  });
  expect(Object.entries(read).filter(([, rows]) => rows > MAX_ROWS_READ)).toEqual([]);
  // The measurement works: every statement reads something.
  expect(Object.entries(read).filter(([, rows]) => rows === 0)).toEqual([]);
});

/** What every hook call costs, with the rows that it needs. */
async function executeAll(
  pool: Pool,
  queuePool: Pool,
  measured: (name: string, execute: () => Promise<unknown>) => Promise<unknown>,
): Promise<void> {
  const lane = { pool: queuePool, queue: laneQueue("tool", { perGroup: 3 }) };
  const store = createStoreCalls(lane);
  const limits = { sendBefore: Number.POSITIVE_INFINITY, lockTimeoutMs: 5_000 };
  const leaseUntil = new Date(Date.now() + 600_000);

  const [first, second] = [newCall(), newCall()];
  await measured("load a hook", async () => expect(await loadReceivable(pool, urlHash(HOOK))).toBeDefined());
  await measured("accept", () => store([first, second], limits));
  const repeat = { ...newCall(), keys: first.keys };
  await measured("accept repeats", async () => {
    expect(await store([repeat], limits)).toEqual(new Map([[repeat.id, first.id]]));
  });
  const now = new Date();
  const happened = { acceptedAt: now, verified: true, refused: 1, refusedAt: now, lastRefusedAt: now };
  await measured("activity", () => addActivity(pool, [{ hookId: HOOK, ...happened }]));
  let deliveries: ClaimedDelivery[] = [];
  await measured("claim", async () => {
    ({ deliveries } = await claimDeliveries(lane, {
      claimId: randomUUID(),
      leaseUntil,
      now: new Date(),
      maxGroups: 1,
    }));
  });
  const [ended, interrupted] = deliveries as [ClaimedDelivery, ClaimedDelivery];
  await measured("renew", () => renewLeases(lane, deliveries, new Date(leaseUntil.getTime() + 1)));
  await measured("settle", () => settleRuns(lane, [endOf(ended)], new Date(), 5_000));
  const expire = "update inbound_hook.tool_queue_item set lease_until = 'epoch' where item_id = $1";
  await pool.query(expire, [interrupted.deliveryId]);
  await measured("interrupt", async () => expect(await interruptExpired(lane, new Date())).toBe(1));
  await measured("list", async () => {
    expect(await readDeliveries(pool, [second.id, first.id].sort().reverse())).toHaveLength(2);
  });
}

function newCall(): AcceptedCall {
  const id = newTimedId(new Date());
  return {
    id,
    createdAt: timeOfId(id),
    hookId: HOOK,
    workspaceId: WORKSPACE,
    since: performance.now(),
    keys: [Buffer.from(randomUUID()), Buffer.from(randomUUID())],
    externalId: null,
    body: Buffer.from("{}"),
    contentType: "",
    headers: {},
    requestId: "",
    trace: { traceparent: "", tracestate: "" },
  };
}

function endOf({ run, attempt, ...claimed }: ClaimedDelivery): RunRecord {
  const ended = { durationMs: 1, args: "{}", result: "{}", error: "", executionId: "", nextAttempt: attempt };
  return { ...claimed, ...ended, number: run?.number ?? 0, outcome: "succeeded", againAt: null };
}

const urlHash = (id: number) => Buffer.from(String(id).padStart(32, "0"));

async function addHooks(pool: Pool, from: number, to: number): Promise<void> {
  await pool.query(
    `insert into inbound_hook.hook (id, workspace_id, workspace, name, url_hash, shown_url, format, target_kind, target_name,
       args_from, call_limit, tolerance_seconds, secret, created_at)
     select n, case n when ${HOOK} then '${WORKSPACE}' else 'w-' || n end, '', '', lpad(n::text, 32, '0')::bytea, '', 'native',
       'tool', '', 'fields', 60, 300, '', now()
     from generate_series($1::int, $2::int) n`,
    [from, to],
  );
}

/** A long log, many replay keys and hooks, and a long queue, most of it of other workspaces. */
async function fill(pool: Pool): Promise<void> {
  await addHooks(pool, HOOK + 1, 5_000);
  await pool.query(
    `with made as (
       insert into inbound_hook.delivery (created_at, id, workspace_id, hook_id, request_id, status, body, content_type, headers, runs)
       select now() - n * interval '1 microsecond', gen_random_uuid(), 'w-' || (n % 100 + 2), n % 100 + 2, '', 'succeeded', '', '', '{}', 1
       from generate_series(1, $1::int) n returning created_at, id, workspace_id, hook_id
     ),
     runs as (
       insert into inbound_hook.run (created_at, delivery_id, number, claim_id, status, started_at)
       select created_at, id, 1, gen_random_uuid(), 'succeeded', created_at from made
     ),
     keys as (
       insert into inbound_hook.replay_key (hook_id, key, delivery_id, created_at)
       select hook_id, id::text::bytea, id, created_at from made
     )
     insert into inbound_hook.tool_queue_item (item_id, group_id, member_id, created_at, due_at)
     select id, workspace_id, hook_id, created_at, created_at from made`,
    [ROWS],
  );
  await pool.query(
    `insert into inbound_hook.tool_queue_group (group_id) select 'w-' || n from generate_series(2, 101) n`,
  );
  await pool.query(
    `insert into inbound_hook.tool_queue_member (group_id, member_id, ready_at)
     select 'w-' || n, n, now() from generate_series(2, 101) n`,
  );
}

/** Rows of all tables that the connections of these pools have read so far, by their own account. */
async function rowsRead(admin: Pool, pools: readonly Pool[]): Promise<number> {
  for (const pool of pools) await pool.query("select pg_stat_force_next_flush()");
  const { rows } = await admin.query(
    `select (select sum(seq_tup_read) from pg_stat_user_tables where schemaname = 'inbound_hook')
       + (select sum(idx_tup_read) from pg_stat_user_indexes where schemaname = 'inbound_hook') as read`,
  );
  return Number(rows[0].read);
}
