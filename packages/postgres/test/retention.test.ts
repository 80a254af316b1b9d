import { expect, test } from "vitest";
import { maintainDailyTables } from "../src/retention.ts";
import { databaseRig } from "./database-rig.ts";

const TABLES = [
  { table: "logs.call", retentionDays: 3 },
  { table: "logs.claim", retentionDays: 1 },
];

test("[LOG-8] [LOG-9] each table has partitions from yesterday to a week ahead, and drops those past its own retention", async () => {
  await using rig = await databaseRig();
  await rig.pool.query(`create schema logs;
    create table logs.call (at timestamptz not null) partition by range (at);
    create table logs.claim (at timestamptz not null) partition by range (at)`);
  const partitions = async (table: string): Promise<string[]> => {
    const text =
      "select relname from pg_inherits join pg_class on oid = inhrelid where inhparent = $1::regclass order by 1";
    return (await rig.pool.query(text, [table])).rows.map((row) => row.relname);
  };
  await maintainDailyTables(rig.pool, TABLES, new Date("2024-02-27T23:59:59Z"));
  const first = ["0226", "0227", "0228", "0229", "0301", "0302", "0303", "0304", "0305"];
  expect(await partitions("logs.call")).toEqual(first.map((day) => `call_2024${day}`));
  const later = new Date("2024-03-02T00:00:00Z");
  for (let round = 0; round < 2; round += 1) await maintainDailyTables(rig.pool, TABLES, later);
  const kept = ["0301", "0302", "0303", "0304", "0305", "0306", "0307", "0308", "0309"];
  expect(await partitions("logs.claim")).toEqual(kept.map((day) => `claim_2024${day}`));
  expect(await partitions("logs.call")).toEqual(["0228", "0229", ...kept].map((day) => `call_2024${day}`));
});

test("[LOG-8] a table with exactBy keeps rows for retentionDays times 24 hours, to the millisecond", async () => {
  await using rig = await databaseRig();
  await rig.pool.query(`create schema logs;
    create table logs.call (at timestamptz not null) partition by range (at)`);
  const written = Date.parse("2024-02-27T12:00:00Z");
  const kept = [{ table: "logs.call", retentionDays: 3, exactBy: "at" }];
  await maintainDailyTables(rig.pool, kept, new Date(written));
  const rows = [-3_600_000, -1, 0, 1, 3_600_000].map((offset) => new Date(written + offset));
  await rig.pool.query("insert into logs.call select unnest($1::timestamptz[])", [rows]);
  for (let round = 0; round < 2; round += 1) {
    await maintainDailyTables(rig.pool, kept, new Date(written + 3 * 86_400_000));
    const left = await rig.pool.query("select at from logs.call order by at");
    expect(left.rows.map(({ at }) => at)).toEqual(rows.slice(2));
  }
});
