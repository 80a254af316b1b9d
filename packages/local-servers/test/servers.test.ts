import { access, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { eventually } from "@toolgate/testbed/eventually";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { removeDataFolder } from "../src/data-folder.ts";
import { isAlive, readPid } from "../src/process-table.ts";
import type { LocalServer } from "../src/server-process.ts";
import { startServers } from "../src/start-servers.ts";
import { query, read, write } from "./kept-value.ts";
import { startShellServer } from "./shell-server.ts";

const NAMES = ["postgres", "nats", "redis"] as const;

async function newDataDir() {
  const dataDir = await temporaryFolder();
  const settings = { names: NAMES, dataDir, log: () => {} };
  return { dataDir, settings, [Symbol.asyncDispose]: () => removeDataFolder(dataDir) };
}

const pidsOf = (running: Readonly<Record<string, LocalServer>>) => Object.values(running).map(({ pid }) => pid);

describe("the servers of a data folder", () => {
  let folder: Awaited<ReturnType<typeof newDataDir>>;
  /** They run before and after each test. */
  let servers: Awaited<ReturnType<typeof startServers<(typeof NAMES)[number]>>>;
  beforeAll(async () => {
    folder = await newDataDir();
    servers = await startServers(folder.settings);
  });
  afterAll(async () => {
    await servers?.stop();
    await folder?.[Symbol.asyncDispose]();
  });
  const serverOf = (name: (typeof NAMES)[number]) => servers.running[name];
  const urls = () => NAMES.map((name) => serverOf(name).url);
  const portOf = (url: string) => Number(new URL(url).port);

  test("stop without a trace and start again with their data on their ports", async () => {
    const before = urls();
    for (const name of NAMES) await write(serverOf(name), `in ${name}`);
    const pids = pidsOf(servers.running);
    expect(pids.every(isAlive)).toBe(true);
    await servers.stop();
    expect(pids.some(isAlive)).toBe(false);
    servers = await startServers(folder.settings);
    expect(urls()).toEqual(before);
    for (const name of NAMES) expect(await read(serverOf(name))).toBe(`in ${name}`);
  });

  test.each(NAMES)("%s keeps what it confirmed over SIGKILL, and starts again on its port", async (name) => {
    const server = serverOf(name);
    await write(server, "confirmed");
    const { url, pid } = server;
    const exited = server.exited();
    await server.kill();
    expect([isAlive(pid), server.pid, await exited]).toEqual([false, 0, "ended by SIGKILL"]);
    await server.restart();
    expect(server.url).toBe(url);
    expect(isAlive(server.pid)).toBe(true);
    expect(await read(server)).toBe("confirmed");
  });

  test("left behind by a killed run are stopped at the next start", async () => {
    for (const name of NAMES) await write(serverOf(name), "kept");
    const [pids, before] = [pidsOf(servers.running), urls()];
    servers = await startServers(folder.settings);
    expect(pids.some(isAlive)).toBe(false);
    expect(urls()).toEqual(before);
    for (const name of NAMES) expect(await read(serverOf(name))).toBe("kept");
  });

  test("move to another port when theirs has been taken", async () => {
    const ports = urls().map(portOf);
    await servers.stop();
    const strangers = ports.map((port) => createServer().listen(port, "127.0.0.1"));
    await eventually(() => strangers.every((stranger) => stranger.listening));
    try {
      servers = await startServers(folder.settings);
      for (const port of urls().map(portOf)) expect(ports).not.toContain(port);
    } finally {
      for (const stranger of strangers) stranger.close();
    }
  });

  test("listen on loopback only and as durably as promised", async () => {
    const { url } = serverOf("postgres");
    const settings = await query(
      url,
      "select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes', 'jit', 'listen_addresses', 'max_connections', 'password_encryption') order by name",
    );
    expect(settings.map(({ name, setting }) => `${name}=${setting}`)).toEqual([
      "fsync=on",
      "full_page_writes=on",
      "jit=off",
      "listen_addresses=127.0.0.1",
      "max_connections=400",
      "password_encryption=scram-sha-256",
      "synchronous_commit=on",
    ]);
    const redis = new Redis(serverOf("redis").url);
    const wanted = ["appendonly", "appendfsync", "maxmemory-policy", "bind"];
    expect(await Promise.all(wanted.map((name) => redis.config("GET", name)))).toEqual([
      ["appendonly", "yes"],
      ["appendfsync", "everysec"],
      ["maxmemory-policy", "noeviction"],
      ["bind", "127.0.0.1"],
    ]);
    redis.disconnect();
    const config = await readFile(join(folder.dataDir, "nats", "nats.conf"), "utf8");
    expect(config).toContain('listen: "127.0.0.1:');
  });

  test("give the owner databases and roles, and no superuser's rights", async () => {
    const { url } = serverOf("postgres");
    const [role] = await query(url, "select rolsuper, rolcreatedb, rolcreaterole from pg_roles where rolname = user");
    expect(role).toEqual({ rolsuper: false, rolcreatedb: true, rolcreaterole: true });
    await query(url, "create role reader login password 'x'");
    await query(url, "create schema reading");
    await expect(query(url.replace(/:[^:@]+@/, ":wrong@"), "select 1")).rejects.toThrow(
      "password authentication failed",
    );
  });
});

describe("servers of a new data folder", () => {
  test("never end another process that now has a former server's pid", async () => {
    await using folder = await newDataDir();
    await mkdir(join(folder.dataDir, "redis"));
    await writeFile(join(folder.dataDir, "redis", "redis.pid"), `${process.pid}\n`);
    await using servers = await startServers({ ...folder.settings, names: ["redis"] });
    expect(servers.running.redis.pid).toBeGreaterThan(0);
  });

  test("with logins of the database, none of them and not even the owner can run programs of the server", async () => {
    await using folder = await newDataDir();
    const postgres = [
      { name: "service", role: "toolgate_service", ofAdmin: true },
      { name: "demo", role: "toolgate_demo", createsSchemas: true },
      { name: "data", role: "toolgate_data" },
    ];
    const users = { nats: [], redis: [], postgres };
    await using servers = await startServers({ ...folder.settings, names: ["postgres"], users });
    const { urls = {} } = servers.running.postgres ?? {};
    expect(Object.keys(urls).toSorted()).toEqual(["data", "demo", "service", "toolgate"]);
    for (const [name, url] of Object.entries(urls)) {
      const role = new URL(url).username;
      for (const statement of [
        `grant pg_execute_server_program to ${role}`,
        `alter role ${role} createrole`,
        "create role another",
        "copy (select 1) to program 'true'",
      ]) {
        await expect(query(url, statement), `${name}: ${statement}`).rejects.toThrow(
          /permission denied|must (be|have)/,
        );
      }
    }
    await query(urls.demo ?? "", "create schema of_demo");
    await query(urls.toolgate ?? "", "create schema of_service authorization toolgate_service");
    for (const name of ["service", "data"]) {
      await expect(query(urls[name] ?? "", "create schema another")).rejects.toThrow("permission denied");
    }
  });

  test("stop each other when one cannot start, with the end of its log", async () => {
    await using folder = await newDataDir();
    await mkdir(join(folder.dataDir, "redis", "appendonlydir"), { recursive: true });
    await writeFile(join(folder.dataDir, "redis", "appendonlydir", "appendonly.aof.manifest"), "nonsense");
    await expect(startServers(folder.settings)).rejects.toThrow(/redis did not start \(exit code 1\).*\n.*AOF/is);
    const pidFiles = [join("postgres", "cluster", "postmaster.pid"), join("nats", "nats.pid")];
    const pids = await Promise.all(pidFiles.map((file) => readPid(join(folder.dataDir, file))));
    expect(pids.filter((pid) => pid !== undefined && isAlive(pid))).toEqual([]);
  });

  test("are not started when the start is interrupted", async () => {
    await using folder = await newDataDir();
    const reason = new Error("interrupted");
    const start = startServers({ ...folder.settings, names: ["redis"], signal: AbortSignal.abort(reason) });
    await expect(start).rejects.toBe(reason);
    await expect(access(join(folder.dataDir, "redis", "redis.pid"))).rejects.toThrow("ENOENT");
  });
});

test("a folder in which no server was started is never removed", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "precious"), "");
  await expect(removeDataFolder(folder)).rejects.toThrow(`${folder} contains no data of Toolgate`);
  expect(await readdir(folder)).toEqual(["precious"]);
});

test("a program that is not a server is reported with its output", async () => {
  const start = startShellServer("echo out of luck >&2; exit 3", async () => false);
  await expect(start).rejects.toThrow(/redis did not start \(exit code 3\); the end of .*server.log:\nout of luck/);
});
