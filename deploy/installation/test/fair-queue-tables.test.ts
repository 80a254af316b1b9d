import { migrate } from "@toolgate/postgres/migrate";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { SERVICE_NAMES, serviceEntry } from "@toolgate/service-registry/services";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fairQueueTables } from "../../../packages/postgres/test/fair-queue/tables.ts";

const OWNERS = SERVICE_NAMES.filter((name) => serviceEntry(name).schema !== undefined);
const TABLES = ["group", "member", "item"];
/** What the queue of deliveries has in addition (`FairQueue` says for which options). */
const OF_DELIVERIES = /"column_name":"(holds_slot)"/;

let pool: Pool;
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  const database = resources.use(await testDatabase());
  pool = createPool({ url: database.url, maxConnections: 2, applicationName: "queues" });
  resources.defer(() => pool.end());
  for (const name of OWNERS) await migrate({ pool, ...migrationsOf(name) });
});
afterAll(() => resources.disposeAsync());

/** The schema and prefix of every fair queue in the database, such as `outbound_webhook.queue`. */
async function queues(): Promise<string[]> {
  const { rows } = await pool.query(
    `select table_schema || '.' || left(table_name, -length('_member')) as queue from information_schema.columns
     where table_name like '%\\_member' and column_name = 'in_flight' order by 1`,
  );
  return rows.map(({ queue }) => queue);
}

/** Columns, constraints, indexes and settings of a queue's tables, without its schema and prefix. */
async function describeQueue(queue: string) {
  const [schema = "", prefix = ""] = queue.split(".");
  const without = (text: string) => text.replaceAll(`${schema}.`, "").replaceAll(`${prefix}_`, "");
  const names = TABLES.map((table) => `${prefix}_${table}`);
  const described = [];
  for (const statement of [
    `select table_name, column_name, data_type, collation_name, is_nullable, column_default
     from information_schema.columns where table_schema = $1 and table_name = any($2) order by 1, 2`,
    `select relname, conname, pg_get_constraintdef(c.oid) as definition
     from pg_constraint c join pg_class t on t.oid = conrelid
     where relnamespace = $1::regnamespace and relname = any($2) and contype <> 'n' order by 1, 2`,
    "select indexdef from pg_indexes where schemaname = $1 and tablename = any($2) order by 1",
    `select relname, reloptions from pg_class
     where relnamespace = $1::regnamespace and relname = any($2) order by 1`,
  ]) {
    const { rows } = await pool.query(statement, [schema, names]);
    described.push(...rows.map((row) => without(JSON.stringify(row))));
  }
  return described.toSorted();
}

test("[FAIR] the migrations of every service make its queues as their package describes them", async () => {
  const made = await queues();
  expect(made).toEqual([
    "chat.chat_queue",
    "chat.hook_queue",
    "inbound_hook.assistant_queue",
    "inbound_hook.tool_queue",
    "outbound_webhook.queue",
  ]);
  await pool.query(`create schema described; ${fairQueueTables("described.queue")}`);
  const expected = await describeQueue("described.queue");
  expect(expected.length).toBeGreaterThan(20);
  for (const queue of made) {
    const own = (line: string) => queue === "outbound_webhook.queue" && OF_DELIVERIES.test(line);
    const described = (await describeQueue(queue)).filter((line) => !own(line));
    expect([queue, described]).toEqual([queue, expected]);
  }
});
