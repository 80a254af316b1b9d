import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { postgresAccount } from "./account.ts";
import { aptInstall } from "./apt.ts";
import { clusterMajor } from "./cluster-folder.ts";
import { startNats, startRedis } from "./nats-and-redis.ts";
import { openPorts } from "./ports.ts";
import { startPostgres } from "./postgres.ts";
import { findPrograms, type ServerName } from "./programs.ts";
import type { UsersOfServers } from "./server-accounts.ts";
import type { LocalServer } from "./server-process.ts";

type ServersSettings<Name extends ServerName> = {
  readonly names: readonly Name[];
  readonly dataDir: string;
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal;
  /** Off only for tests, whose data may be lost when the machine fails. */
  readonly durable?: boolean;
  readonly fallbackRoot?: string;
  /** The users of NATS and Redis, in addition to the administrator. */
  readonly users?: UsersOfServers;
  /** Ports that no server may have, because another program will listen there later. */
  readonly reservedPorts?: readonly number[];
};

const NO_USERS: UsersOfServers = { nats: [], redis: [] };

type LocalServers<Name extends ServerName> = AsyncDisposable & {
  readonly running: Readonly<Record<Name, LocalServer>>;
  stop(graceMs?: number): Promise<void>;
};

/**
 * Starts the named servers at the same time, each on loopback with its data below `dataDir`: from programs found on
 * this machine, else installed with apt-get. When one fails, the others are stopped again.
 */
export async function startServers<Name extends ServerName>(
  settings: ServersSettings<Name>,
): Promise<LocalServers<Name>> {
  const { names, dataDir, log, signal, durable, fallbackRoot, users = NO_USERS } = settings;
  await mkdir(dataDir, { recursive: true });
  const ports = openPorts(join(dataDir, "ports.json"), settings.reservedPorts);
  const found = await findPrograms(names, {
    install: (packages) => aptInstall(packages, join(dataDir, "apt-get.log"), log),
    clusterMajor: await clusterMajor(join(dataDir, "postgres")),
  });
  const start = async (name: Name): Promise<LocalServer> => {
    const common = { binary: found[name], folder: join(dataDir, name), ports, signal };
    if (name === "nats") return startNats({ ...common, users: users.nats });
    if (name === "redis") return startRedis({ ...common, users: users.redis });
    const account = await postgresAccount();
    return startPostgres({ ...common, account, users: users.postgres, durable, fallbackRoot });
  };
  const outcomes = await Promise.allSettled(names.map(start));
  const servers = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const stop = async (graceMs?: number) => {
    await Promise.all(servers.map((server) => server.stop(graceMs)));
  };
  const failure = outcomes.find((outcome) => outcome.status === "rejected");
  if (failure) {
    await stop();
    throw failure.reason;
  }
  const running = Object.fromEntries(servers.map((server) => [server.name, server])) as Record<Name, LocalServer>;
  return { running, stop, [Symbol.asyncDispose]: () => stop() };
}
