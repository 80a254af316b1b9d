import { access, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { clusterFiles, refuseForeignLink } from "./cluster-folder.ts";
import { stopLeftover } from "./server-process.ts";

/**
 * Stops the servers that an earlier run left running on the data folder. If it is a copy, leaves the original's alone.
 */
export async function stopLeftovers(dataDir: string): Promise<void> {
  const folder = await realpath(dataDir);
  const linked = join(folder, "postgres");
  await refuseForeignLink(linked);
  const postgres = clusterFiles(await realpath(linked).catch(() => linked));
  await Promise.all([
    stopLeftover(postgres.pidFile, postgres.cluster, "SIGINT"),
    stopLeftover(join(folder, "nats", "nats.pid"), join(folder, "nats", "nats.conf"), "SIGTERM"),
    stopLeftover(join(folder, "redis", "redis.pid"), join(folder, "redis", "redis.conf"), "SIGTERM"),
  ]);
}

/**
 * Removes a data folder with its servers, including PostgreSQL's files when a symbolic link leads to them.
 * Refuses a folder in which no server was ever started.
 */
export async function removeDataFolder(dataDir: string): Promise<void> {
  await refuseForeignFolder(dataDir);
  await stopLeftovers(dataDir);
  const cluster = await realpath(join(dataDir, "postgres")).catch(() => undefined);
  if (cluster) await rm(cluster, { recursive: true });
  await rm(dataDir, { recursive: true });
}

/** Throws unless servers were started on this folder before. */
export async function refuseForeignFolder(dataDir: string): Promise<void> {
  await access(join(dataDir, "ports.json")).catch(() => {
    throw new Error(`${dataDir} contains no data of Toolgate`);
  });
}
