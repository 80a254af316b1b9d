import { execFile } from "node:child_process";
import { chown, realpath, rename, rm, writeFile } from "node:fs/promises";
import { platform } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { clusterFiles, clusterFolder, clusterMajor } from "./cluster-folder.ts";
import type { Ports } from "./ports.ts";
import { isPostgresReady, readPasswords, SUPERUSER } from "./postgres-client.ts";
import { createRoles, databaseLogins, databaseUrls } from "./postgres-roles.ts";
import type { Binary } from "./programs.ts";
import type { DatabaseUser } from "./server-accounts.ts";
import { type Account, type LocalServer, startServer } from "./server-process.ts";

const INITDB_TIMEOUT_MS = 120_000;
const STILL_IN_USE = /pre-existing shared memory block|lock file "postmaster.pid" already exists/;

type PostgresSettings = {
  /** The program `postgres`; `initdb` is in the same folder, or in that of what it links to. */
  readonly binary: Binary;
  /** Folder for the cluster, its passwords and its log; may become a symbolic link (see `clusterFolder`). */
  readonly folder: string;
  readonly ports: Ports;
  readonly account?: Account | undefined;
  /** The logins of the database, in addition to the administrator's. Absent: the administrator may create roles. */
  readonly users?: readonly DatabaseUser[] | undefined;
  readonly fallbackRoot?: string | undefined;
  /** Off only for tests whose data may be lost with the machine. */
  readonly durable?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Starts a PostgreSQL cluster on loopback. `url` leads to the database `toolgate` as its owner, who may create
 * databases but is not a superuser; the owner may create roles only when no other logins are named, because on
 * PostgreSQL 15 that right leads to programs of the server.
 */
export async function startPostgres(settings: PostgresSettings): Promise<LocalServer> {
  const { binary, ports, account, signal } = settings;
  const folder = await clusterFolder(settings.folder, account, settings.fallbackRoot);
  const { cluster, pidFile, logFile } = clusterFiles(folder);
  const isNew = (await clusterMajor(folder)) === undefined;
  const passwords = await readPasswords(folder, isNew);
  const logins = await databaseLogins(folder, settings.users);
  if (isNew) await initialise(settings, folder, passwords.superuser);
  const server = await startServer(
    {
      name: "postgres",
      ports,
      command: binary.path,
      cwd: folder,
      identity: cluster,
      pidFile,
      logFile,
      stopSignal: "SIGINT",
      account,
      transientError: STILL_IN_USE,
      arguments: (port) => ["-D", cluster, ...options(port, settings.durable ?? true)],
      ready: (port) => isPostgresReady(port, passwords, cluster),
      urls: (port) => databaseUrls(port, passwords, logins),
    },
    signal,
  );
  try {
    await createRoles(Number(new URL(server.url).port), passwords, logins);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function options(port: number, durable: boolean): string[] {
  const onOff = durable ? "on" : "off";
  const settings = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: "",
    max_connections: 400,
    shared_buffers: "128MB",
    jit: "off",
    fsync: onOff,
    full_page_writes: onOff,
    synchronous_commit: "on",
    logging_collector: "off",
    log_destination: "stderr",
    timezone: "UTC",
    log_timezone: "UTC",
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

// Made under another name and then renamed, so that an interrupted start leaves no half-made cluster.
async function initialise(settings: PostgresSettings, folder: string, superuserPassword: string): Promise<void> {
  const { binary, account, signal } = settings;
  const unfinished = join(folder, "cluster.new");
  const passwordFile = join(folder, "initdb-password");
  await rm(unfinished, { recursive: true, force: true });
  await writeFile(passwordFile, superuserPassword, { mode: 0o600 });
  if (account) await chown(passwordFile, account.uid, account.gid);
  const locale = platform() === "darwin" ? ["--locale=C", "--lc-ctype=UTF-8"] : ["--locale=C.UTF-8"];
  const args = [`--pgdata=${unfinished}`, `--username=${SUPERUSER}`, `--pwfile=${passwordFile}`, "--encoding=UTF8"];
  args.push(...locale, "--auth=scram-sha-256", ...(settings.durable === false ? ["--no-sync"] : []));
  await promisify(execFile)(join(dirname(await realpath(binary.path)), "initdb"), args, {
    cwd: folder,
    timeout: INITDB_TIMEOUT_MS,
    ...(signal && { signal }),
    ...(account && { uid: account.uid, gid: account.gid }),
  }).finally(() => rm(passwordFile, { force: true }));
  await rename(unfinished, clusterFiles(folder).cluster);
}
