import { createServer } from "node:net";
import { expect, test } from "vitest";
import { assertMigrated, migrate } from "../src/migrate.ts";
import { databaseRig } from "./database-rig.ts";
import { migrationFolder as folderOf } from "./migration-folder.ts";

const SCHEMA = "subject";

const FIRST = { "0001_one.sql": "create table subject.one (id int);" };
const BOTH = { ...FIRST, "0002_two.sql": "insert into subject.one values (1); insert into subject.one values (2);" };

test("applies what is missing once, in order, and nothing the second time", async () => {
  await using rig = await databaseRig();
  const { pool } = rig;
  expect(await migrate({ pool, schema: SCHEMA, dir: await folderOf(FIRST) })).toEqual(["0001_one.sql"]);
  const dir = await folderOf(BOTH);
  expect(await migrate({ pool, schema: SCHEMA, dir })).toEqual(["0002_two.sql"]);
  expect(await migrate({ pool, schema: SCHEMA, dir })).toEqual([]);
  expect((await pool.query("select id from subject.one order by id")).rows).toEqual([{ id: 1 }, { id: 2 }]);
});

test("replicas that migrate at the same time apply each migration once", async () => {
  await using rig = await databaseRig();
  const dir = await folderOf(BOTH);
  const pools = [rig.pool, rig.another(), rig.another()];
  const applied = await Promise.all(pools.map((pool) => migrate({ pool, schema: SCHEMA, dir })));
  expect(applied.flat()).toEqual(["0001_one.sql", "0002_two.sql"]);
  expect((await rig.pool.query("select count(*) as n from subject.one")).rows).toEqual([{ n: 2 }]);
});

test("a migration that fails leaves nothing behind, and is named", async () => {
  await using rig = await databaseRig();
  const { pool } = rig;
  const broken = await folderOf({ ...FIRST, "0002_two.sql": "insert into subject.one values (1); select 1/0;" });
  await expect(migrate({ pool, schema: SCHEMA, dir: broken })).rejects.toThrow("0002_two.sql: division by zero");
  expect((await pool.query("select to_regclass('subject.one') as made")).rows).toEqual([{ made: null }]);
  const dir = await folderOf(BOTH);
  expect(await migrate({ pool, schema: SCHEMA, dir })).toEqual(["0001_one.sql", "0002_two.sql"]);
});

test("gaps, duplicates and wrong names are refused before anything is applied", async () => {
  await using rig = await databaseRig();
  const { pool } = rig;
  const invalid: Record<string, string>[] = [
    { "0002_two.sql": "select 1" },
    { ...FIRST, "0003_three.sql": "select 1" },
    { ...FIRST, "0001_uno.sql": "select 1" },
    { "1_one.sql": "select 1" },
    { "0001-one.sql": "select 1" },
  ];
  for (const files of invalid) {
    const dir = await folderOf(files);
    await expect(migrate({ pool, schema: SCHEMA, dir })).rejects.toThrow("expected number");
    await expect(assertMigrated({ pool, schema: SCHEMA, dir })).rejects.toThrow("expected number");
  }
  expect((await pool.query("select to_regnamespace('subject') as made")).rows).toEqual([{ made: null }]);
});

test("migrations can be added to a folder that was empty", async () => {
  await using rig = await databaseRig();
  const { pool } = rig;
  expect(await migrate({ pool, schema: SCHEMA, dir: await folderOf({}) })).toEqual([]);
  expect(await migrate({ pool, schema: SCHEMA, dir: await folderOf(FIRST) })).toEqual(["0001_one.sql"]);
});

test("a service refuses a database with missing migrations, and accepts one that is ahead", async () => {
  await using rig = await databaseRig();
  const { pool } = rig;
  const [first, both] = [await folderOf(FIRST), await folderOf(BOTH)];
  await expect(assertMigrated({ pool, schema: SCHEMA, dir: first })).rejects.toThrow("is at migration 0");
  await migrate({ pool, schema: SCHEMA, dir: first });
  await assertMigrated({ pool, schema: SCHEMA, dir: first });
  await expect(assertMigrated({ pool, schema: SCHEMA, dir: both })).rejects.toThrow("is at migration 1, this version");
  await migrate({ pool, schema: SCHEMA, dir: both });
  await assertMigrated({ pool, schema: SCHEMA, dir: first });
});

test("a database that cannot be reached is named, without its password", async () => {
  await using rig = await databaseRig();
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const { port } = closed.address() as { port: number };
  await new Promise((resolve) => closed.close(resolve));
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
    const pool = rig.another({ url: `postgres://user:hunter2@${host}/toolgate` });
    const asked = assertMigrated({ pool, schema: SCHEMA, dir: await folderOf(FIRST) });
    const error = await asked.then(String, String);
    expect(error).toMatch(new RegExp(`^Error: PostgreSQL at ${host} cannot be reached: .*ECONNREFUSED`));
    expect(error).not.toContain("hunter2");
  }
});
