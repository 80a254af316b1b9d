import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { assertMigrated, migrate } from "../src/migrate.ts";
import { ensureDailyPartitions } from "../src/partitions.ts";
import { type DatabaseRig, databaseRig } from "./database-rig.ts";
import { migrationFolder } from "./migration-folder.ts";

const schema = "subject";
const DAY = new Date("2026-11-20T00:00:00Z");
/** So that the last of the partitions is that of DAY. */
const firstDay = (partitions: number) => new Date(DAY.getTime() - (partitions - 1) * 86_400_000);
const PLAIN = "create table subject.log (at timestamptz not null, id int);";
const PARTITIONED = "create table subject.log (at timestamptz not null, id int) partition by range (at);";
const INDEX = `-- no transaction
-- For lookups by id.
create index concurrently log_by_id on subject.log (id) where id > 0;
`;
const LAST = "create table subject.last (id int);";

const filesWith = (table: string) => ({ "0001_log.sql": table, "0002_log_by_id.sql": INDEX, "0003_last.sql": LAST });

/** The indexes on `log` and its partitions: their tables, and whether they are valid. */
async function indexes({ pool }: DatabaseRig): Promise<[table: string, valid: boolean][]> {
  const { rows } = await pool.query(
    `select t.relname as table, i.indisvalid as valid from pg_index i join pg_class t on t.oid = i.indrelid
     where t.relname like 'log%' order by 1`,
  );
  return rows.map((row) => [row.table, row.valid]);
}

/** A writer whose transaction is open: the build of an index waits for it. */
async function openWriter({ pool }: DatabaseRig, table = "log") {
  const writer = await pool.connect();
  await writer.query("begin");
  await writer.query(`insert into subject.${table} values ($1, 1)`, [DAY]);
  return {
    async end() {
      await writer.query("commit");
      writer.release();
    },
  };
}

async function preparedRig(table: string, partitions = 0) {
  const rig = await databaseRig();
  await migrate({ pool: rig.pool, schema, dir: await migrationFolder({ "0001_log.sql": table }) });
  if (partitions > 0)
    await ensureDailyPartitions(rig.pool, { table: "subject.log", from: firstDay(partitions), days: partitions });
  const dir = await migrationFolder(filesWith(table));
  const start = (pool = rig.another()) => {
    const migrating = migrate({ pool, schema, dir });
    migrating.catch(() => {});
    return migrating;
  };
  return { rig, dir, start };
}

test.each([
  ["a table", PLAIN, 0],
  ["a partitioned table", PARTITIONED, 2],
])("others write to %s while its index is built without a transaction", async (_, table, partitions) => {
  const { rig, dir, start } = await preparedRig(table, partitions);
  await using _rig = rig;
  const writer = await openWriter(rig);
  const migrating = start(rig.another({ applicationName: "migrating" }));
  await eventually(async () => {
    const { rows } = await rig.pool.query(
      "select 1 from pg_stat_activity where application_name = 'migrating' and query like 'create index%'",
    );
    return rows.length === 1;
  });
  await rig.pool.query("insert into subject.log values ($1, 2)", [DAY]);
  if (partitions > 0) await ensureDailyPartitions(rig.pool, { table: "subject.log", from: DAY, days: 2 });
  await writer.end();
  expect(await migrating).toEqual(["0002_log_by_id.sql", "0003_last.sql"]);
  const found = await indexes(rig);
  expect(found.map(([, valid]) => valid)).toEqual(Array(partitions > 0 ? partitions + 2 : 1).fill(true));
  await assertMigrated({ pool: rig.pool, schema, dir });
});

test.each([
  ["a table", PLAIN, 0],
  ["a partitioned table", PARTITIONED, 3],
])("a build on %s that was cut is repeated by the next migration", async (_, table, partitions) => {
  const { rig, dir, start } = await preparedRig(table, partitions);
  await using _rig = rig;
  // In the last partition, so that the others have their indexes when the build is cut.
  const writer = await openWriter(rig, partitions > 0 ? "log_20261120" : "log");
  const cut = start(rig.another({ applicationName: "cut" }));
  await eventually(async () => {
    const { rows } = await rig.pool.query(
      `select count(pg_terminate_backend(pid))::int as n from pg_stat_activity
       where application_name = 'cut' and wait_event_type = 'Lock' and query like 'create index concurrently%'
         and (select count(*) from pg_index i join pg_class t on t.oid = i.indrelid where t.relname like 'log%') = $1`,
      [partitions > 0 ? partitions + 1 : 1],
    );
    expect(rows[0].n).toBe(1);
  });
  await expect(cut).rejects.toThrow(/^migration 0002_log_by_id.sql: /);
  await writer.end();
  expect((await indexes(rig)).some(([, valid]) => !valid)).toBe(true);
  await expect(assertMigrated({ pool: rig.pool, schema, dir })).rejects.toThrow("is at migration 1");
  expect(await start()).toEqual(["0002_log_by_id.sql", "0003_last.sql"]);
  const found = await indexes(rig);
  expect(found.map(([, valid]) => valid)).toEqual(Array(partitions > 0 ? partitions + 1 : 1).fill(true));
});

test("replicas that migrate at the same time do not delay the index that one of them builds", async () => {
  const { rig, start } = await preparedRig(PARTITIONED, 2);
  await using _rig = rig;
  const applied = await Promise.all([start(), start(), start()]);
  expect(applied.flat()).toEqual(["0002_log_by_id.sql", "0003_last.sql"]);
  expect((await indexes(rig)).map(([, valid]) => valid)).toEqual([true, true, true]);
});

test("without a transaction, only indexes can be made", async () => {
  await using rig = await databaseRig();
  const dir = await migrationFolder({
    "0001_log.sql": PLAIN,
    "0002_no.sql": "-- no transaction\ndrop table subject.log;",
  });
  await expect(migrate({ pool: rig.pool, schema, dir })).rejects.toThrow(
    '0002_no.sql: only "create index concurrently',
  );
  expect(await indexes(rig)).toEqual([]);
  await expect(assertMigrated({ pool: rig.pool, schema, dir })).rejects.toThrow("is at migration 1");
});
