import { chmod, mkdtemp, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildConsole } from "@toolgate/console/build";
import { startServers } from "@toolgate/local-servers/start-servers";
import { natsUsers, redisUsers } from "@toolgate/service-registry/server-users";
import type { TestProject } from "vitest/node";
import { startReaper } from "./servers/reaper-process.ts";
import "./servers/servers-of-run.ts";

const USERS = { nats: natsUsers(), redis: redisUsers() };
/** Kept in memory: making a database takes a tenth of the time that it takes on a disk. */
const MEMORY = "/dev/shm";
const MEMORY_NEEDED_BYTES = 2 * 1024 ** 3;

/**
 * Starts one PostgreSQL, one NATS and one Redis for the test run and provides their addresses. All data is temporary: it
 * is not flushed to disk, and is removed after the run, even if the run is killed.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildConsole();
  const runFolder = await mkdtemp(join(await folderForData(), "toolgate-test-"));
  // The user that runs PostgreSQL must be able to open the folder.
  await chmod(runFolder, 0o711);
  const reaper = startReaper(runFolder);
  try {
    const { running } = await startServers({
      names: ["postgres", "nats", "redis"],
      dataDir: join(runFolder, "run"),
      log: console.log,
      durable: false,
      users: USERS,
    });
    project.provide("serversOfRun", {
      databaseUrl: running.postgres.url,
      natsUrl: running.nats.url,
      redisUrl: running.redis.url,
      runFolder,
    });
  } catch (error) {
    await reaper.reap();
    throw error;
  }
  return () => reaper.reap();
}

async function folderForData(): Promise<string> {
  const found = await statfs(MEMORY).catch(() => undefined);
  return found && found.bavail * found.bsize > MEMORY_NEEDED_BYTES ? MEMORY : tmpdir();
}
