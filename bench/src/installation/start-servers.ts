import { type Bus, connectBus } from "@toolgate/event-bus/connect";
import type { ServerName } from "@toolgate/local-servers/server-programs";
import { startServers } from "@toolgate/local-servers/start-servers";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import type { Groups } from "../machine/meter.ts";

export type ServersSettings = {
  dataDir: string;
  log: (line: string) => void;
  signal: AbortSignal;
};

/** PostgreSQL, NATS and Redis with the settings of a real installation: what is written survives a crash. */
export type BenchServers = AsyncDisposable & {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly redisUrl: string;
  readonly pool: Pool;
  readonly bus: Bus;
  readonly groups: Groups;
};

const NAMES = ["postgres", "nats", "redis"] as const;

export async function startBenchServers({ dataDir, log, signal }: ServersSettings): Promise<BenchServers> {
  await using resources = new AsyncDisposableStack();
  const servers = resources.use(
    await startServers({ names: NAMES, dataDir, path: process.env.PATH, log, signal, durable: true }),
  );
  const server = (name: ServerName) => {
    const found = servers.running[name];
    if (!found || found.pid === 0) throw new Error(`${name} has to run as a process of this machine`);
    return found;
  };
  const [databaseUrl, natsUrl, redisUrl] = NAMES.map((name) => server(name).url) as [string, string, string];
  const pool = resources.adopt(createPool({ url: databaseUrl, maxConnections: 2, applicationName: "bench" }), (owned) =>
    owned.end(),
  );
  const bus = resources.use(await connectBus({ servers: natsUrl, name: "bench" }));
  const groups = Object.fromEntries(NAMES.map((name) => [name, { pids: [server(name).pid], take: "both" as const }]));
  const owned = resources.move();
  return { databaseUrl, natsUrl, redisUrl, pool, bus, groups, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
