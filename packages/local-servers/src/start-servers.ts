import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { postgresAccount } from "./account.ts";
import { aptInstall } from "./apt.ts";
import { clusterMajor } from "./cluster-folder.ts";
import { startNats, startRedis } from "./nats-and-redis.ts";
import { openPorts, type Ports } from "./ports.ts";
import { startPostgres } from "./postgres.ts";
import { type FoundPrograms, findPrograms, missingSentence, programFolders, type ServerName } from "./programs.ts";
import type { UsersOfServers } from "./server-accounts.ts";
import type { LocalServer } from "./server-process.ts";

type ServersSettings = {
  readonly names: readonly ServerName[];
  readonly dataDir: string;
  /** The search path, as in the variable PATH. */
  readonly path: string | undefined;
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

type LocalServers = AsyncDisposable & {
  readonly running: Readonly<Partial<Record<ServerName, LocalServer>>>;
  stop(graceMs?: number): Promise<void>;
};

/**
 * Starts the named servers at the same time, each on loopback with its data below `dataDir`: from programs found on
 * this machine, else installed with apt-get. When one fails, the others are stopped again.
 */
export async function startServers(settings: ServersSettings): Promise<LocalServers> {
  const { names, dataDir, log } = settings;
  await mkdir(dataDir, { recursive: true });
  const ports = openPorts(join(dataDir, "ports.json"), settings.reservedPorts);
  const major = await clusterMajor(join(dataDir, "postgres"));
  const found = await findPrograms(names, {
    folders: () => programFolders(settings.path),
    install: (packages) => aptInstall(packages, join(dataDir, "apt-get.log"), log),
    clusterMajor: major,
    log,
  });
  const missing = names.filter((name) => !found[name]);
  if (missing.length > 0) throw new Error(missingSentence(missing, major));
  return gather(await Promise.allSettled(startFound(found, ports, settings)));
}

function startFound(
  found: FoundPrograms,
  ports: Ports,
  { dataDir, signal, durable, fallbackRoot, users = NO_USERS }: ServersSettings,
): Promise<LocalServer>[] {
  const settings = (name: ServerName) => ({ ports, folder: join(dataDir, name), ...(signal && { signal }) });
  const { postgres, nats, redis } = found;
  const startOwnPostgres = async (binary: string) =>
    startPostgres({
      ...settings("postgres"),
      binary,
      account: await postgresAccount(),
      users: users.postgres,
      ...(durable !== undefined && { durable }),
      ...(fallbackRoot !== undefined && { fallbackRoot }),
    });
  const starts = [
    postgres && startOwnPostgres(postgres.path),
    nats && startNats({ ...settings("nats"), binary: nats, users: users.nats }),
    redis && startRedis({ ...settings("redis"), binary: redis, users: users.redis }),
  ];
  return starts.filter((start) => start !== undefined);
}

async function gather(outcomes: PromiseSettledResult<LocalServer>[]): Promise<LocalServers> {
  const servers = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const stop = async (graceMs?: number) => {
    await Promise.all(servers.map((server) => server.stop(graceMs)));
  };
  const failure = outcomes.find((outcome) => outcome.status === "rejected");
  if (failure) {
    await stop();
    throw failure.reason;
  }
  const running = Object.fromEntries(servers.map((server) => [server.name, server]));
  return { running, stop, [Symbol.asyncDispose]: () => stop() };
}
