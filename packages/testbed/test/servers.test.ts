import { spawn } from "node:child_process";
import { access, mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { isAlive } from "@toolgate/local-servers/process-table";
import { Redis } from "ioredis";
import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { eventually } from "../src/eventually.ts";
import { testNats, testPostgres, testRedis } from "../src/servers.ts";
import { serversOfRun } from "../src/servers-of-run.ts";
import { temporaryFolder } from "../src/temporary-folder.ts";
import { testDatabase } from "../src/test-database.ts";

async function query(url: string, text: string) {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function redisDo<T>(url: string, action: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url);
  try {
    return await action(redis);
  } finally {
    redis.disconnect();
  }
}

describe("a test database", () => {
  test("is empty, separate from others, and its owner is not a superuser", async () => {
    await using first = await testDatabase();
    await using second = await testDatabase();
    expect(first.name).not.toBe(second.name);
    await query(first.url, "create table one (id int)");
    const count = "select count(*)::int as n from pg_tables where schemaname = 'public'";
    expect([await query(first.url, count), await query(second.url, count)]).toEqual([[{ n: 1 }], [{ n: 0 }]]);
    expect(await query(first.url, "select rolsuper from pg_roles where rolname = user")).toEqual([{ rolsuper: false }]);
  });

  test("is dropped when disposed, even with an open connection", async () => {
    const database = await testDatabase();
    const client = new Client({ connectionString: database.url });
    client.on("error", () => {});
    await client.connect();
    await database[Symbol.asyncDispose]();
    const left = `select 1 from pg_database where datname = '${database.name}'`;
    expect(await query(serversOfRun().databaseUrl, left)).toEqual([]);
    await client.end().catch(() => {});
  });
});

describe("a server for one test", () => {
  test("Redis is not the run's, keeps its data over a kill and loses it when wiped", async () => {
    await using server = await testRedis();
    const { url } = server;
    expect(url).not.toBe(serversOfRun().redisUrl);
    await redisDo(url, (redis) => redis.set("a", "1"));
    await server.kill();
    expect(server.pid).toBe(0);
    await server.restart();
    expect(await redisDo(url, (redis) => redis.get("a"))).toBe("1");
    await server.wipe();
    expect(await redisDo(url, (redis) => redis.get("a"))).toBeNull();
    expect(server.url).toBe(url);
  });

  test("NATS keeps its streams over a kill and loses them when wiped", async () => {
    await using server = await testNats();
    const first = await connectTo(server.url);
    await (await jetstreamManager(first)).streams.add({ name: "s", subjects: ["s.>"] });
    await jetstream(first).publish("s.x", "1");
    await first.close();
    const messages = async () => {
      const connection = await connectTo(server.url);
      try {
        return (await (await jetstreamManager(connection)).streams.info("s")).state.messages;
      } finally {
        await connection.close();
      }
    };
    await server.kill();
    await server.restart();
    expect(await messages()).toBe(1);
    await server.wipe();
    await expect(messages()).rejects.toThrow("stream not found");
  });

  test("PostgreSQL keeps what was committed over a kill, and takes test databases", async () => {
    await using server = await testPostgres();
    await using database = await testDatabase(server.url);
    await query(database.url, "create table kept (id int)");
    await query(database.url, "insert into kept values (7)");
    await server.kill();
    await server.restart();
    expect(await query(database.url, "select id from kept")).toEqual([{ id: 7 }]);
  });

  test("leaves neither process nor data when disposed", async () => {
    const folder = serversOfRun().runFolder;
    const server = await testRedis();
    const [pid, data] = [server.pid, await redisDo(server.url, (redis) => redis.config("GET", "dir"))];
    const dataDir = (data as string[])[1] ?? "";
    expect(dataDir.includes(folder.split("/").at(-1) ?? "?")).toBe(true);
    await server[Symbol.asyncDispose]();
    expect(isAlive(pid)).toBe(false);
    await expect(access(dataDir)).rejects.toThrow("ENOENT");
  });
});

test("a test run that is killed leaves neither servers nor data", async () => {
  const marks = await temporaryFolder();
  const runFolder = await mkdtemp(join(tmpdir(), "toolgate-test-"));
  const moduleUrl = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
import { writeFileSync } from "node:fs";
const { startReaper } = await import(${moduleUrl("../src/reaper-process.ts")});
const { startServers } = await import(${moduleUrl("../../local-servers/src/start-servers.ts")});
startReaper(${JSON.stringify(runFolder)});
const dataDir = ${JSON.stringify(join(runFolder, "run"))};
const { running } = await startServers({ names: ["redis"], dataDir, path: process.env.PATH, log: () => {} });
writeFileSync(${JSON.stringify(join(marks, "pid"))}, String(running.redis.pid));
process.kill(process.pid, "SIGKILL");`;
  spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: "inherit" });
  const pid = await eventually(async () => Number(await readFile(join(marks, "pid"), "utf8")) || false);
  await eventually(() => !isAlive(pid));
  await eventually(() => expect(access(runFolder)).rejects.toThrow("ENOENT"));
});

/** The client takes credentials separately from the address. */
function connectTo(url: string) {
  const { host, username: user, password: pass } = new URL(url);
  return connect({ servers: host, user, pass });
}
