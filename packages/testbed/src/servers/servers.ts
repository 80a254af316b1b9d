import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { removeDataFolder } from "@toolgate/local-servers/data-folder";
import type { ServerName } from "@toolgate/local-servers/programs";
import type { LocalServer } from "@toolgate/local-servers/server-process";
import { startServers } from "@toolgate/local-servers/start-servers";
import { natsUsers, redisUsers } from "@toolgate/service-registry/server-users";
import { serversOfRun } from "./servers-of-run.ts";

/** A server for one test, with the users of `SERVER_USERS`; disposing it removes its data. */
export type TestServer = LocalServer & {
  /** SIGKILL, loses all data, and starts empty on the same port. */
  wipe(): Promise<void>;
};

/** Starts a nats-server with JetStream, to be killed or wiped, or for one test alone; takes about 50 ms. */
export function testNats(): Promise<TestServer> {
  return startAlone("nats");
}

/** Starts a redis-server with an append-only file, to be killed or wiped, or for one test alone; takes about 50 ms. */
export function testRedis(): Promise<TestServer> {
  return startAlone("redis");
}

/**
 * Starts a PostgreSQL cluster, to be killed; takes about 1 s. Committed data survive a kill of the server, but not of
 * the machine. It cannot be wiped: for an empty one start another, or use `testDatabase`.
 */
export async function testPostgres(): Promise<Omit<TestServer, "wipe">> {
  return startAlone("postgres");
}

async function startAlone(name: ServerName): Promise<TestServer> {
  const dataDir = await mkdtemp(join(serversOfRun().runFolder, `${name}-`));
  await chmod(dataDir, 0o711);
  const { running } = await startServers({
    names: [name],
    dataDir,
    log: console.log,
    durable: false,
    users: { nats: natsUsers(), redis: redisUsers() },
  });
  const server = running[name];
  return Object.assign(server, {
    async wipe() {
      await server.kill();
      await empty(join(dataDir, name));
      await server.restart();
    },
    async [Symbol.asyncDispose]() {
      await server.kill();
      await removeDataFolder(dataDir);
    },
  });
}

async function empty(folder: string): Promise<void> {
  const names = await readdir(folder);
  await Promise.all(names.map((name) => rm(join(folder, name), { recursive: true })));
}
