import { createHash } from "node:crypto";
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { firstResponse, type Ports } from "./ports.ts";
import { type Binary, reaches } from "./programs.ts";
import {
  ADMIN,
  keptPasswords,
  natsAuthorization,
  type Passwords,
  redisAcl,
  type UserRules,
  urlsOf,
} from "./server-accounts.ts";
import { type LocalServer, startServer } from "./server-process.ts";

const MAX_MEMORY_STORE = "128MB";
const NAME_HASH_LENGTH = 12;
const SYNC_INTERVAL_SINCE = { major: 2, minor: 10 };

type Settings = {
  readonly binary: Binary;
  /** Folder for the configuration, the data and the log. */
  readonly folder: string;
  readonly ports: Ports;
  /** Who may log in, in addition to the administrator, whose address is `url`. */
  readonly users: readonly UserRules[];
  readonly signal?: AbortSignal | undefined;
};

/** The ports on loopback at which the servers of a cluster reach each other. */
type NatsCluster = { readonly own: number; readonly all: readonly number[] };

/** What differs between servers that are started with a configuration file. */
type Configured = {
  readonly name: string;
  configuration(port: number, folder: string, pidFile: string, passwords: Passwords): string[];
  arguments(configFile: string): string[];
  ready(port: number, folder: string, pidFile: string, passwords: Passwords): Promise<boolean>;
};

/**
 * Starts nats-server with JetStream on loopback. It acknowledges a message once the operating system has it, so a
 * killed server loses nothing; a machine that loses power may lose what was not yet flushed to the disk: one second
 * from 2.10 on, while 2.9 has no setting for it.
 */
export function startNats(settings: Settings & { readonly cluster?: NatsCluster }): Promise<LocalServer> {
  const { cluster } = settings;
  return startConfigured(settings, {
    name: "nats",
    configuration: (port, folder, pidFile, passwords) => [
      `listen: "127.0.0.1:${port}"`,
      `server_name: ${natsName(folder)}`,
      `pid_file: ${JSON.stringify(pidFile)}`,
      "jetstream {",
      `  store_dir: ${JSON.stringify(join(folder, "store"))}`,
      `  max_memory_store: ${MAX_MEMORY_STORE}`,
      ...(reaches(settings.binary.version, SYNC_INTERVAL_SINCE) ? ["  sync_interval: 1s"] : []),
      "}",
      ...(cluster ? clusterLines(cluster) : []),
      ...natsAuthorization(settings.users, passwords),
    ],
    arguments: (configFile) => ["--config", configFile],
    async ready(port, folder) {
      const response = await firstResponse(port, "");
      return response.includes(`"server_name":"${natsName(folder)}"`) && response.includes('"jetstream":true');
    },
  });
}

function clusterLines({ own, all }: NatsCluster): string[] {
  const routes = all.map((port) => `nats://127.0.0.1:${port}`);
  return [`cluster { name: toolgate, listen: "127.0.0.1:${own}", routes: ${JSON.stringify(routes)} }`];
}

/** Starts redis-server on loopback with an append-only file, flushed to the disk every second, and no eviction. */
export function startRedis(settings: Settings): Promise<LocalServer> {
  return startConfigured(settings, {
    name: "redis",
    configuration: (port, folder, pidFile, passwords) => [
      "bind 127.0.0.1",
      `port ${port}`,
      "daemonize no",
      `pidfile ${JSON.stringify(pidFile)}`,
      // Leaves the command line in the process title, by which the server of an earlier run is recognised.
      "set-proc-title no",
      `dir ${JSON.stringify(folder)}`,
      "appendonly yes",
      "appendfsync everysec",
      'save ""',
      "maxmemory-policy noeviction",
      // By default it wakes ten times a second, also when there is nothing to do. Once a second would delay the flush.
      "hz 2",
      ...redisAcl(settings.users, passwords),
    ],
    arguments: (configFile) => [configFile],
    async ready(port, _, pidFile, passwords) {
      const login = `AUTH ${ADMIN} ${passwords[ADMIN]}\r\n`;
      const response = await firstResponse(port, `${login}CONFIG GET pidfile\r\nPING\r\n`, "+PONG");
      return response.includes(`\n${pidFile}\r`) && response.includes("+PONG");
    },
  });
}

async function startConfigured({ binary, folder: wanted, ports, users, signal }: Settings, server: Configured) {
  await mkdir(wanted, { recursive: true, mode: 0o700 });
  const folder = await realpath(wanted);
  const passwords = await keptPasswords(join(folder, "accounts.json"), [ADMIN, ...users.map(({ name }) => name)]);
  const configFile = join(folder, `${server.name}.conf`);
  const pidFile = join(folder, `${server.name}.pid`);
  return startServer(
    {
      name: server.name,
      ports,
      command: binary.path,
      cwd: folder,
      identity: configFile,
      pidFile,
      logFile: join(folder, "server.log"),
      stopSignal: "SIGTERM",
      async arguments(port) {
        const lines = server.configuration(port, folder, pidFile, passwords);
        await writeFile(configFile, `${lines.join("\n")}\n`, { mode: 0o600 });
        return server.arguments(configFile);
      },
      ready: (port) => server.ready(port, folder, pidFile, passwords),
      urls: (port) => urlsOf(server.name, port, passwords),
    },
    signal,
  );
}

/** The server's name, which it sends to every client, shows which server responds. */
function natsName(folder: string): string {
  return `toolgate-${createHash("sha256").update(folder).digest("hex").slice(0, NAME_HASH_LENGTH)}`;
}
