import { randomBytes } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { withPool } from "@toolgate/postgres/pool";
import { readIdentity } from "@toolgate/service-host/identity/service-keys";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { SERVER_USERS } from "@toolgate/service-registry/server-users";
import { CALLING_SERVICES } from "@toolgate/service-registry/services";
import { type TestDatabase, testDatabase } from "@toolgate/testbed/servers/test-database";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loginsIn, readRolePasswords, writeLogins } from "../../src/logins.ts";
import { migrateAll, roleUrls, SERVICES_WITH_SCHEMA } from "../../src/migrate.ts";

let database: TestDatabase;
const passwords = Object.fromEntries(
  SERVICES_WITH_SCHEMA.map((name) => [name, randomBytes(16).toString("hex")] as const),
);
const SCHEMAS = SERVICES_WITH_SCHEMA.map((name) => migrationsOf(name).schema);
beforeAll(async () => {
  database = await testDatabase();
  // As an installation of the last version: everything belongs to the administrator.
  await migrateAll(database.url);
  // What no migration has made yet.
  const made = [
    `view ${SCHEMAS[0]}.v as select 1 as n`,
    `materialized view ${SCHEMAS[0]}.m as select 1 as n`,
    `type ${SCHEMAS[0]}.e as enum ('a')`,
    `domain ${SCHEMAS[0]}.d as int`,
  ];
  const statements = made.map((what) => `create ${what}`);
  expect(await outcomes(database.url, statements)).toEqual(made.map(() => ""));
});
afterAll(() => database[Symbol.asyncDispose]());

/** Runs each statement as a role; returns what the server said, "" for success. */
function outcomes(url: string, statements: readonly string[]): Promise<string[]> {
  return withPool(url, "test", async (pool) => {
    const said: string[] = [];
    for (const statement of statements) {
      const failure = await pool.query(statement).then(
        () => "",
        (error: Error) => error.message,
      );
      said.push(failure);
    }
    return said;
  });
}

async function ownersIn(schema: string): Promise<string[]> {
  const owners = `select distinct owner::regrole::text as owner from (
    select relowner as owner from pg_class join pg_namespace n on n.oid = relnamespace where nspname = $1
    union all select proowner from pg_proc join pg_namespace n on n.oid = pronamespace where nspname = $1
    union all select typowner from pg_type join pg_namespace n on n.oid = typnamespace where nspname = $1
    union all select nspowner from pg_namespace where nspname = $1
  ) owned`;
  const { rows } = await withPool(database.url, "test", (pool) => pool.query(owners, [schema]));
  return rows.map(({ owner }) => owner);
}

test("an upgrade gives each service's role its schema with everything in it, and repeating it changes nothing", async () => {
  for (let round = 0; round < 2; round += 1) {
    expect(await migrateAll(database.url, passwords)).toEqual([]);
    for (const schema of SCHEMAS) expect(await ownersIn(schema)).toEqual([`${database.name}_${schema}`]);
  }
  // Without passwords, the roles that exist keep what they own.
  await migrateAll(database.url);
  for (const schema of SCHEMAS) expect(await ownersIn(schema)).toEqual([`${database.name}_${schema}`]);
});

test("a new installation belongs to the services' roles as well", async () => {
  await using fresh = await testDatabase();
  await migrateAll(fresh.url, passwords);
  for (const url of Object.values(roleUrls(fresh.url, passwords))) {
    const schema = new URL(url ?? "").username.slice(fresh.name.length + 1);
    expect(await outcomes(url ?? "", [`table ${schema}.migrations`])).toEqual([""]);
  }
});

test.each(SERVICES_WITH_SCHEMA)("the role of %s owns its schema and can do nothing else", async (service) => {
  const url = roleUrls(database.url, passwords)[service] ?? "";
  const { schema } = migrationsOf(service);
  const own = [
    `table ${schema}.migrations`,
    `create table ${schema}.of_the_test (n int)`,
    `drop table ${schema}.of_the_test`,
  ];
  expect(await outcomes(url, own)).toEqual(["", "", ""]);
  const foreign = SCHEMAS.filter((other) => other !== schema).flatMap((other) => [
    `table ${other}.migrations`,
    `delete from ${other}.migrations`,
    `create table ${other}.of_the_test (n int)`,
    `set role ${database.name}_${other}`,
  ]);
  const role = `${database.name}_${schema}`;
  const rights = [
    "create schema another",
    "create role another",
    "create database another",
    `alter role ${role} createrole`,
    `grant pg_execute_server_program to ${role}`,
    "copy (select 1) to program 'true'",
    "set role toolgate",
    "set role postgres",
  ];
  for (const said of await outcomes(url, [...foreign, ...rights])) {
    expect(said).toMatch(/permission denied|must be|must have|no such|role .* does not exist/);
  }
});

test("the logins of an installation are files that only their owner may read, and passwords stay", async () => {
  const folder = await temporaryFolder();
  const addresses = {
    databaseUrl: "postgres://admin:secret@db.example/toolgate",
    natsUrl: "tls://a.example:4222, tls://b.example:4222",
    redisUrl: "rediss://redis.example:6380",
  };
  const files = await writeLogins(folder, addresses);
  const read = async () => Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
  const before = await read();
  await writeLogins(folder, addresses);
  expect(await read()).toEqual(before);
  for (const name of files) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  const text = await readFile(join(folder, "key-auth.env"), "utf8");
  expect(text).toMatch(
    /^NATS_URL=tls:\/\/key-auth:(\w+)@a\.example:4222,tls:\/\/key-auth:\1@b\.example:4222\nREDIS_URL=rediss:\/\/key-auth:\1@redis\.example:6380\nDATABASE_URL=postgres:\/\/toolgate_key_auth:\1@db\.example\/toolgate\nSERVICE_KEY=\S+\nSERVICE_PUBLIC_KEYS=\S+\n$/,
  );
  expect(await readFile(join(folder, "gateway.env"), "utf8")).toMatch(
    /^NATS_URL=\S+\nSERVICE_KEY=\S+\nSERVICE_PUBLIC_KEYS=\S+\n$/,
  );
  expect(await readFile(join(folder, "outbound-webhook-worker.env"), "utf8")).toMatch(
    /^NATS_URL=\S+\nSERVICE_PUBLIC_KEYS=\S+\n$/,
  );
  for (const name of CALLING_SERVICES) {
    const identity = readIdentity(loginsIn(folder)[name] ?? {}, name);
    expect(identity.serviceKey?.asymmetricKeyType, name).toBe("ed25519");
  }
  for (const { name } of SERVER_USERS) {
    expect(await readFile(join(folder, `${name}.env`), "utf8")).not.toContain("admin:secret");
    expect(await readFile(join(folder, "nats-users.conf"), "utf8")).toContain(`"${name}"`);
  }
  expect(Object.keys(await readRolePasswords(folder)).toSorted()).toEqual([...SERVICES_WITH_SCHEMA].toSorted());
});

test.each([
  { databaseUrl: "postgres:///toolgate?host=/var/run/postgresql" },
  { databaseUrl: "postgres://db.example" },
  { databaseUrl: "postgres://admin:secret@db.example/toolgate?user=admin" },
  { natsUrl: "nats.example:4222" },
  { natsUrl: "nats://a.example:4222,b.example:4222" },
  { redisUrl: "redis.example" },
])("no logins are written for an address in which the user cannot be replaced: %o", async (wrong) => {
  const folder = await temporaryFolder();
  const addresses = {
    databaseUrl: "postgres://admin:secret@db.example/toolgate",
    natsUrl: "nats://nats.example:4222",
    redisUrl: "redis://old:pass%2Fword@redis.example:6380/0",
  };
  await expect(writeLogins(folder, { ...addresses, ...wrong })).rejects.toThrow(/^the address(es)? of .* must/);
  expect(await readdir(folder)).toEqual([]);
  await writeLogins(folder, addresses);
  expect(await readFile(join(folder, "key-auth.env"), "utf8")).toMatch(
    /REDIS_URL=redis:..key-auth:\w+@redis.example:6380.0\n/,
  );
});
