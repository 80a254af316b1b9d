import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chown, realpath, rename, rm, writeFile } from "node:fs/promises";
import { platform } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { clusterFiles, clusterFolder, clusterMajor } from "./cluster-folder.ts";
import type { Ports } from "./ports.ts";
import { loadJson, saveJson } from "./saved-json.ts";
import { type Account, type LocalServer, startServer } from "./server-process.ts";

const INITDB_TIMEOUT_MS = 120_000;
const STILL_IN_USE = /pre-existing shared memory block|lock file "postmaster.pid" already exists/;

type PostgresSettings = {
  /** Path of the program `postgres`; `initdb` is in the same folder, or in that of what it links to. */
  readonly binary: string;
  /** Folder for the cluster, its passwords and its log; may become a symbolic link (see `clusterFolder`). */
  readonly folder: string;
  readonly ports: Ports;
  readonly account?: Account | undefined;
  readonly fallbackRoot?: string;
  /** Off only for tests whose data may be lost with the machine. */
  readonly durable?: boolean;
  readonly signal?: AbortSignal;
};

/**
 * Starts a PostgreSQL cluster on loopback. `url` leads to the database `toolgate` as its owner, who may create
 * databases and roles but is not a superuser.
 */
export async function startPostgres(settings: PostgresSettings): Promise<LocalServer> {
  const { binary, ports, account, signal } = settings;
  const folder = await clusterFolder(settings.folder, account, settings.fallbackRoot);
  const { cluster, pidFile, logFile } = clusterFiles(folder);
  const isNew = (await clusterMajor(folder)) === undefined;
  const passwords = await readPasswords(folder, isNew);
  if (isNew) await initialise(settings, folder, passwords.superuser);
  const server = await startServer(
    {
      name: "postgres",
      ports,
      command: binary,
      cwd: folder,
      identity: cluster,
      pidFile,
      logFile,
      stopSignal: "SIGINT",
      account,
      transientError: STILL_IN_USE,
      arguments: (port) => ["-D", cluster, ...options(port, settings.durable ?? true)],
      ready: (port) => isPostgresReady(port, passwords, cluster),
      urls: (port) => ({ [OWNER]: ownerUrl(port, passwords) }),
    },
    signal,
  );
  try {
    await createOwner(Number(new URL(server.url).port), passwords);
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
    max_connections: 200,
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
  await promisify(execFile)(join(dirname(await realpath(binary)), "initdb"), args, {
    cwd: folder,
    timeout: INITDB_TIMEOUT_MS,
    ...(signal && { signal }),
    ...(account && { uid: account.uid, gid: account.gid }),
  }).finally(() => rm(passwordFile, { force: true }));
  await rename(unfinished, clusterFiles(folder).cluster);
}

const CONNECT_TIMEOUT_MS = 2_000;
const PASSWORD_BYTES = 24;
const OWNER = "toolgate";

const SUPERUSER = "postgres";

/** The passwords of a cluster's superuser and of the owner of Toolgate's database. */
export type Passwords = { readonly superuser: string; readonly owner: string };

/** Reads the passwords kept in `folder`; makes them when the cluster is new, as only then they can still be set. */
export async function readPasswords(folder: string, isNew: boolean): Promise<Passwords> {
  const file = join(folder, "passwords.json");
  const kept = await loadJson<Passwords>(file);
  if (kept) return kept;
  if (!isNew) throw new Error(`${file} is missing, so the cluster next to it cannot be opened`);
  const password = () => randomBytes(PASSWORD_BYTES).toString("hex");
  const passwords = { superuser: password(), owner: password() };
  await saveJson(file, passwords);
  return passwords;
}

/** The address of the database `toolgate` for its owner. */
export function ownerUrl(port: number, passwords: Passwords): string {
  return `postgres://${OWNER}:${passwords.owner}@127.0.0.1:${port}/${OWNER}`;
}

/** True when the cluster on this port responds to a query, and is the one in the folder `cluster` if that is given. */
export async function isPostgresReady(port: number, passwords: Passwords, cluster?: string): Promise<boolean> {
  const client = superuserClient(port, passwords);
  try {
    await client.connect();
    const { rows } = await client.query("show data_directory");
    return cluster === undefined || rows[0]?.data_directory === cluster;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Creates the owner, who may create databases and roles but is not a superuser, and the database, unless they exist. */
export async function createOwner(port: number, passwords: Passwords): Promise<void> {
  const client = superuserClient(port, passwords);
  await client.connect();
  try {
    const exists = async (text: string) => (await client.query(text, [OWNER])).rowCount !== 0;
    if (!(await exists("select from pg_roles where rolname = $1"))) {
      const password = client.escapeLiteral(passwords.owner);
      await client.query(`create role ${OWNER} login createdb createrole password ${password}`);
    }
    if (!(await exists("select from pg_database where datname = $1"))) {
      await client.query(`create database ${OWNER} owner ${OWNER}`);
    }
  } finally {
    await client.end();
  }
}

function superuserClient(port: number, passwords: Passwords): Client {
  const client = new Client({
    host: "127.0.0.1",
    port,
    user: SUPERUSER,
    password: passwords.superuser,
    database: "postgres",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on("error", () => {});
  return client;
}
