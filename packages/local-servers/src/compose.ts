import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { firstResponse, type Ports } from "./ports.ts";
import { isPostgresReady, type Passwords, readPasswords } from "./postgres-client.ts";
import { createRoles, type DatabaseLogin, databaseLogins, databaseUrls } from "./postgres-roles.ts";
import { until } from "./process-table.ts";
import type { ServerName } from "./programs.ts";
import {
  ADMIN,
  accountsOf,
  natsAuthorization,
  redisAcl,
  type UserRules,
  type UsersOfServers,
  urlsOf,
} from "./server-accounts.ts";
import type { LocalServer } from "./server-process.ts";

export const COMPOSE_FILE = fileURLToPath(new URL("../servers.compose.yaml", import.meta.url));
const PROBE_TIMEOUT_MS = 10_000;
const PULL_TIMEOUT_MS = 600_000;
const READY_DEADLINE_MS = 60_000;
const READY_POLL_MS = 200;
const STOP_GRACE_S = 8;
const PROJECT_HASH_LENGTH = 12;

type Container = { readonly urls: Readonly<Record<string, string>>; ready(): Promise<boolean> };

/** True when Docker runs and has `docker compose`. */
export async function hasDocker(): Promise<boolean> {
  const docker = (...args: string[]) => promisify(execFile)("docker", args, { timeout: PROBE_TIMEOUT_MS });
  return Promise.all([docker("info"), docker("compose", "version")]).then(
    () => true,
    () => false,
  );
}

/** Starts the named servers as containers, with their data below `dataDir`/docker. */
export async function startContainers(
  names: readonly ServerName[],
  dataDir: string,
  ports: Ports,
  users: UsersOfServers,
) {
  const folder = join(await realpath(dataDir), "docker");
  await Promise.all(["postgres", "nats", "redis"].map((name) => mkdir(join(folder, name), { recursive: true })));
  const isNew = (await readdir(join(folder, "postgres"))).length === 0;
  const passwords = await readPasswords(folder, isNew);
  const taken = {
    postgres: await ports.take("docker-postgres"),
    nats: await ports.take("docker-nats"),
    redis: await ports.take("docker-redis"),
  };
  const accounts = await writeLogins(folder, users);
  const envFile = join(folder, "compose.env");
  await writeFile(envFile, environment(folder, passwords, taken), { mode: 0o600 });
  const project = `toolgate-${createHash("sha256").update(folder).digest("hex").slice(0, PROJECT_HASH_LENGTH)}`;
  const compose = async (...args: string[]) => {
    const all = ["compose", "--project-name", project, "--file", COMPOSE_FILE, "--env-file", envFile, ...args];
    await promisify(execFile)("docker", all, { timeout: PULL_TIMEOUT_MS });
  };
  await compose("up", "--detach", ...names);
  const specs = containers(taken, passwords, accounts, await databaseLogins(folder, users.postgres));
  return Promise.all(names.map((name) => openContainer(name, specs[name], compose)));
}

async function openContainer(
  name: ServerName,
  { urls, ready }: Container,
  compose: (...args: string[]) => Promise<void>,
): Promise<LocalServer> {
  const untilReady = async () => {
    if (await until(ready, { deadlineMs: READY_DEADLINE_MS, everyMs: READY_POLL_MS })) return;
    throw new Error(`the container of ${name} was not ready after ${READY_DEADLINE_MS / 1000} s`);
  };
  const stop = (graceMs = STOP_GRACE_S * 1000) => compose("stop", "--timeout", String(Math.ceil(graceMs / 1000)), name);
  await untilReady();
  return {
    name,
    url: urls[ADMIN] ?? "",
    urls,
    pid: 0,
    exited: () => new Promise<string>(() => {}),
    stop,
    kill: () => compose("kill", name),
    async restart() {
      await stop();
      await compose("start", name);
      await untilReady();
    },
    [Symbol.asyncDispose]: () => stop(),
  };
}

type Accounts = Readonly<Record<"nats" | "redis", Readonly<Record<string, string>>>>;

/** Writes the configurations that the containers of NATS and Redis read, and returns the passwords in them. */
async function writeLogins(folder: string, { nats, redis }: UsersOfServers): Promise<Accounts> {
  const namesOf = (users: readonly UserRules[]) => [ADMIN, ...users.map(({ name }) => name)];
  const accounts = {
    nats: await accountsOf(join(folder, "nats-logins"), namesOf(nats)),
    redis: await accountsOf(join(folder, "redis-logins"), namesOf(redis)),
  };
  const natsLines = [
    "jetstream {",
    '  store_dir: "/store"',
    "  sync_interval: 1s",
    "}",
    ...natsAuthorization(nats, accounts.nats),
  ];
  const redisLines = ["appendonly yes", "appendfsync everysec", 'save ""', "maxmemory-policy noeviction"];
  // Connections come from outside the container; the port is open on loopback only, and there is no user without a password.
  redisLines.push("protected-mode no");
  redisLines.push(...redisAcl(redis, accounts.redis));
  await writeFile(join(folder, "nats.conf"), `${natsLines.join("\n")}\n`, { mode: 0o600 });
  await writeFile(join(folder, "redis.conf"), `${redisLines.join("\n")}\n`, { mode: 0o600 });
  return accounts;
}

function containers(
  ports: Record<ServerName, number>,
  passwords: Passwords,
  accounts: Accounts,
  logins: readonly DatabaseLogin[] | undefined,
): Record<ServerName, Container> {
  return {
    postgres: {
      urls: databaseUrls(ports.postgres, passwords, logins),
      async ready() {
        if (!(await isPostgresReady(ports.postgres, passwords))) return false;
        // The image's first start runs a temporary server without TCP, so a response means the real one.
        await createRoles(ports.postgres, passwords, logins);
        return true;
      },
    },
    nats: {
      urls: urlsOf("nats", ports.nats, accounts.nats),
      ready: async () => (await firstResponse(ports.nats, "")).includes('"jetstream":true'),
    },
    redis: {
      urls: urlsOf("redis", ports.redis, accounts.redis),
      async ready() {
        const login = `AUTH ${ADMIN} ${accounts.redis[ADMIN]}\r\n`;
        return (await firstResponse(ports.redis, `${login}PING\r\n`, "+PONG")).includes("+PONG");
      },
    },
  };
}

/** The variables of the file, for the containers of a folder. */
export function environment(folder: string, passwords: Passwords, ports: Record<ServerName, number>): string {
  return [
    `TOOLGATE_USER=${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`,
    `TOOLGATE_DATA='${folder}'`,
    `POSTGRES_PASSWORD=${passwords.superuser}`,
    `POSTGRES_PORT=${ports.postgres}`,
    `NATS_PORT=${ports.nats}`,
    `REDIS_PORT=${ports.redis}`,
    "",
  ].join("\n");
}
