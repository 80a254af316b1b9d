import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { dropDailyPartitions, ensureDailyPartitions } from "../src/partitions.ts";
import { inTransaction, type Pool } from "../src/pool.ts";
import { databaseRig } from "./database-rig.ts";

const TABLE = "logs.call";

async function partitionedRig() {
  const rig = await databaseRig();
  await rig.pool.query(`create schema logs;
    create table logs.call (
      id bigint generated always as identity, at timestamptz not null, note text not null default 'none',
      primary key (at, id), check (note <> '')
    ) partition by range (at);
    create index call_by_note on logs.call (note)`);
  return rig;
}

async function partitions(pool: Pool): Promise<string[]> {
  const found = await pool.query(
    "select relname from pg_inherits join pg_class on oid = inhrelid where inhparent = $1::regclass order by 1",
    [TABLE],
  );
  return found.rows.map((row) => row.relname);
}

const day = (text: string) => new Date(`${text}T12:34:56Z`);

test("creates the requested days, also across the end of a month, and is safe to repeat", async () => {
  await using rig = await partitionedRig();
  await ensureDailyPartitions(rig.pool, { table: TABLE, from: day("2024-02-28"), days: 3 });
  expect(await partitions(rig.pool)).toEqual(["call_20240228", "call_20240229", "call_20240301"]);
  await ensureDailyPartitions(rig.pool, { table: TABLE, from: day("2024-02-29"), days: 3 });
  expect(await partitions(rig.pool)).toEqual(["call_20240228", "call_20240229", "call_20240301", "call_20240302"]);
});

test("rows go to the day of their time in UTC, in any session time zone", async () => {
  await using rig = await partitionedRig();
  const client = await rig.pool.connect();
  try {
    await client.query("set time zone 'Pacific/Auckland'");
    await ensureDailyPartitions(client, { table: TABLE, from: day("2024-03-09"), days: 2 });
    const edges = [
      "2024-03-09T00:00:00Z",
      "2024-03-09T23:59:59.999999Z",
      "2024-03-10T00:00:00Z",
      "2024-03-10T23:59:59Z",
    ];
    for (const at of edges) await client.query("insert into logs.call (at) values ($1::timestamptz)", [at]);
    const placed = await client.query("select tableoid::regclass::text as name from logs.call order by at");
    expect(placed.rows.map((row) => row.name)).toEqual([
      "logs.call_20240309",
      "logs.call_20240309",
      "logs.call_20240310",
      "logs.call_20240310",
    ]);
    await expect(client.query("insert into logs.call (at) values ('2024-03-11T00:00:00Z')")).rejects.toThrow(
      "partition",
    );
  } finally {
    client.release();
  }
});

test("a partition has its table's identity, defaults, checks and indexes", async () => {
  await using rig = await partitionedRig();
  await ensureDailyPartitions(rig.pool, { table: TABLE, from: day("2024-01-01"), days: 1 });
  const inserted = await rig.pool.query(
    "insert into logs.call (at) values ('2024-01-01T01:00:00Z') returning id, note",
  );
  expect(inserted.rows).toEqual([{ id: 1, note: "none" }]);
  await expect(rig.pool.query("insert into logs.call (at, note) values ('2024-01-01T01:00Z', '')")).rejects.toThrow(
    "check",
  );
  const indexes = await rig.pool.query("select count(*) as n from pg_indexes where tablename = 'call_20240101'");
  expect(indexes.rows).toEqual([{ n: 2 }]);
});

test("creating a partition does not wait for readers or writers of the table", async () => {
  await using rig = await partitionedRig();
  await ensureDailyPartitions(rig.pool, { table: TABLE, from: day("2024-01-01"), days: 1 });
  await inTransaction(rig.pool, async (client) => {
    await client.query("insert into logs.call (at) values ('2024-01-01T01:00:00Z')");
    await client.query("select count(*) from logs.call");
    const hurried = rig.another({ statementTimeoutMs: 2_000 });
    await ensureDailyPartitions(hurried, { table: TABLE, from: day("2024-01-02"), days: 1 });
  });
  expect(await partitions(rig.pool)).toEqual(["call_20240101", "call_20240102"]);
});

test("drops only past partitions, under any search path, and is safe to repeat", async () => {
  await using rig = await partitionedRig();
  await ensureDailyPartitions(rig.pool, { table: TABLE, from: day("2024-01-01"), days: 4 });
  await rig.pool.query("create table logs.call_rest partition of logs.call default");
  const client = await rig.pool.connect();
  try {
    await client.query("set search_path to logs");
    const before = new Date("2024-01-03T23:59:59Z");
    for (let round = 0; round < 2; round += 1) await dropDailyPartitions(client, { table: TABLE, before });
  } finally {
    client.release();
  }
  expect(await partitions(rig.pool)).toEqual(["call_20240103", "call_20240104", "call_rest"]);
});

test("a partition in use is left for the next call", async () => {
  await using rig = await partitionedRig();
  await ensureDailyPartitions(rig.pool, { table: TABLE, from: day("2024-01-01"), days: 1 });
  const drop = () => dropDailyPartitions(rig.pool, { table: TABLE, before: day("2024-01-05") });
  await inTransaction(rig.pool, async (client) => {
    await client.query("select from logs.call_20240101");
    await drop();
    expect(await partitions(rig.pool)).toEqual(["call_20240101"]);
  });
  await eventually(async () => {
    await drop();
    expect(await partitions(rig.pool)).toEqual([]);
  });
});

test("several replicas may drop and create at the same time, and all of it is done", async () => {
  await using rig = await partitionedRig();
  await ensureDailyPartitions(rig.pool, { table: TABLE, from: day("2024-01-01"), days: 12 });
  const replicas = Array.from({ length: 6 }, () => rig.another());
  await Promise.all(
    replicas.map(async (replica) => {
      await dropDailyPartitions(replica, { table: TABLE, before: day("2024-01-11") });
      await ensureDailyPartitions(replica, { table: TABLE, from: day("2024-01-12"), days: 3 });
    }),
  );
  expect(await partitions(rig.pool)).toEqual(["call_20240111", "call_20240112", "call_20240113", "call_20240114"]);
});
