import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { postgresAccount } from "./account.ts";
import { aptInstall } from "./apt.ts";
import { programFolders } from "./binary.ts";
import { clusterMajor } from "./cluster-folder.ts";
import { hasDocker, startContainers } from "./compose.ts";
import type { LocalServer } from "./local-server.ts";
import { startNats } from "./nats.ts";
import { openPortBook, type PortBook } from "./port-book.ts";
import { startPostgres } from "./postgres.ts";
import { startRedis } from "./redis.ts";
import { type FoundPrograms, findPrograms, missingSentence, type ServerName } from "./server-programs.ts";

export type ServersSettings = {
  readonly names: readonly ServerName[];
  readonly dataDir: string;
  /** The search path, as in the variable PATH. */
  readonly path: string | undefined;
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal;
  /** Off only for tests whose data may be lost with the machine. */
  readonly durable?: boolean;
  readonly fallbackRoot?: string;
  /** Ports that no server may have, because somebody will listen there later. */
  readonly reservedPorts?: readonly number[];
};

export type LocalServers = AsyncDisposable & {
  readonly running: Readonly<Partial<Record<ServerName, LocalServer>>>;
  stop(graceMs?: number): Promise<void>;
};

/**
 * Starts the named servers at the same time, each on loopback with its data below `dataDir`: from programs found on
 * this machine, else installed with apt-get, else in Docker. When one fails, the others are stopped again.
 */
export async function startServers(settings: ServersSettings): Promise<LocalServers> {
  const { names, dataDir, log } = settings;
  await mkdir(dataDir, { recursive: true });
  const ports = openPortBook(join(dataDir, "ports.json"), settings.reservedPorts);
  const major = await clusterMajor(join(dataDir, "postgres"));
  const found = await findPrograms(names, {
    folders: () => programFolders(settings.path),
    install: (packages) => aptInstall(packages, join(dataDir, "apt-get.log"), log),
    clusterMajor: major,
    log,
  });
  const missing = names.filter((name) => !found[name]);
  if (missing.length > 0 && !(await hasDocker())) throw new Error(missingSentence(missing, major));
  const starts: Promise<LocalServer[]>[] = startFound(names, found, ports, settings);
  if (missing.length > 0) starts.push(startContainers(missing, dataDir, ports));
  return gather(await Promise.allSettled(starts));
}

function startFound(
  names: readonly ServerName[],
  found: FoundPrograms,
  ports: PortBook,
  { dataDir, signal, durable, fallbackRoot }: ServersSettings,
): Promise<LocalServer[]>[] {
  const passed = { ports, ...(signal && { signal }) };
  const starters = {
    postgres: async () =>
      found.postgres &&
      startPostgres({
        ...passed,
        binary: found.postgres.path,
        folder: join(dataDir, "postgres"),
        account: await postgresAccount(),
        ...(durable !== undefined && { durable }),
        ...(fallbackRoot !== undefined && { fallbackRoot }),
      }),
    nats: async () => found.nats && startNats({ ...passed, binary: found.nats, folder: join(dataDir, "nats") }),
    redis: async () =>
      found.redis && startRedis({ ...passed, binary: found.redis.path, folder: join(dataDir, "redis") }),
  };
  return names.map(async (name) => {
    const server = await starters[name]();
    return server ? [server] : [];
  });
}

async function gather(outcomes: PromiseSettledResult<LocalServer[]>[]): Promise<LocalServers> {
  const servers = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? outcome.value : []));
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
