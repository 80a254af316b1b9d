import { createHash } from "node:crypto";
import { chown, lstat, mkdir, readFile, readlink, realpath, rename, rm, rmdir, symlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Account, canUse } from "./account.ts";
import { stopLeftover } from "./server-process.ts";

/** Where a cluster is kept when the user that runs PostgreSQL cannot reach the data folder. */
export const FALLBACK_ROOT = "/var/lib";

const PATH_HASH_LENGTH = 12;

/**
 * The folder for PostgreSQL's files, made when missing, owned by `account` and reachable for it. When a parent of
 * `wanted` shuts that user out (a clone below /root), the files are kept below `fallbackRoot`, and `wanted` becomes
 * a symbolic link to them. Answers the real path.
 */
export async function clusterFolder(wanted: string, account: Account | undefined, fallbackRoot = FALLBACK_ROOT) {
  const target = await linkTarget(wanted);
  if (target) return makeFolder(target, account);
  await mkdir(dirname(wanted), { recursive: true });
  const folder = await makeFolder(wanted, account);
  if (!account || (await canUse(account, folder))) return folder;
  await rmdir(folder).catch(() => {
    throw new Error(`the user ${account.name}, who runs PostgreSQL, cannot reach ${folder}`);
  });
  const path = join(await realpath(dirname(wanted)), "postgres");
  const hash = createHash("sha256").update(path).digest("hex").slice(0, PATH_HASH_LENGTH);
  const elsewhere = join(fallbackRoot, `toolgate-${hash}`);
  await putAside(elsewhere);
  const made = await makeFolder(elsewhere, account);
  if (!(await canUse(account, made)))
    throw new Error(`the user ${account.name} can reach neither ${folder} nor ${made}`);
  await symlink(made, wanted);
  return made;
}

/** The postmaster's pid file and the argument by which its process is known. */
export function clusterFiles(folder: string) {
  const cluster = join(folder, "cluster");
  return { cluster, pidFile: join(cluster, "postmaster.pid"), logFile: join(folder, "server.log") };
}

/** The major version that made the cluster in `folder`, or `undefined` when there is none. */
export async function clusterMajor(folder: string): Promise<number | undefined> {
  const text = await readFile(join(clusterFiles(folder).cluster, "PG_VERSION"), "utf8").catch(() => undefined);
  return text === undefined ? undefined : Number.parseInt(text, 10);
}

// Without the link the data folder was deleted, so its cluster is no longer wanted; one generation is kept all the same.
async function putAside(folder: string): Promise<void> {
  const stale = await lstat(folder).catch(() => undefined);
  if (!stale) return;
  const { cluster, pidFile } = clusterFiles(folder);
  await stopLeftover(pidFile, cluster, "SIGINT");
  await rm(`${folder}.old`, { recursive: true, force: true });
  await rename(folder, `${folder}.old`);
}

async function makeFolder(folder: string, account: Account | undefined): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (account) await chown(folder, account.uid, account.gid);
  return realpath(folder);
}

async function linkTarget(path: string): Promise<string | undefined> {
  const link = await readlink(path).catch(() => undefined);
  return link === undefined ? undefined : resolve(dirname(path), link);
}
