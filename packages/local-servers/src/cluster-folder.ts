import { createHash } from "node:crypto";
import {
  access,
  chown,
  lstat,
  mkdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  symlink,
} from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { canUse } from "./account.ts";
import { type Account, stopLeftover } from "./server-process.ts";

/** Where a cluster is kept when the user that runs PostgreSQL cannot reach the data folder. */
const FALLBACK_ROOT = "/var/lib";

/**
 * The folder for PostgreSQL's files, made when missing, owned by `account` and reachable for it. When a parent of
 * `wanted` shuts that user out (a clone below /root), the files are kept below `fallbackRoot`, and `wanted` becomes
 * a symbolic link to them, which only this data folder may follow. Returns the real path.
 */
export async function clusterFolder(wanted: string, account: Account | undefined, fallbackRoot = FALLBACK_ROOT) {
  await refuseForeignLink(wanted);
  await mkdir(dirname(wanted), { recursive: true });
  const folder = await makeFolder(wanted, account);
  if (!account || (await canUse(account, folder))) return folder;
  const unreachable = new Error(`the user ${account.name}, who runs PostgreSQL, cannot reach ${folder}`);
  // Of a link, `folder` is its target, which is not ours to remove.
  if ((await lstat(wanted)).isSymbolicLink()) throw unreachable;
  await rmdir(folder).catch(() => {
    throw unreachable;
  });
  const elsewhere = join(fallbackRoot, await fallbackName(wanted));
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

// Called when the link is gone, so the data folder was deleted on purpose. The last cluster is kept just in case.
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

const PATH_HASH_LENGTH = 12;
const FALLBACK_PREFIX = "toolgate-";

/** The folder name of a cluster that cannot be kept at `wanted`; each data folder has its own. */
async function fallbackName(wanted: string): Promise<string> {
  const hash = createHash("sha256").update(join(await realpath(dirname(wanted)), basename(wanted)));
  return `${FALLBACK_PREFIX}${hash.digest("hex").slice(0, PATH_HASH_LENGTH)}`;
}

/**
 * Throws when `wanted` is a broken symbolic link, or leads to the files of another data folder: then the data folder
 * was copied or moved, and using these files would take them from their owner.
 */
export async function refuseForeignLink(wanted: string): Promise<void> {
  const link = await readlink(wanted).catch(() => undefined);
  if (link === undefined) return;
  const target = resolve(dirname(wanted), link);
  await access(target).catch(() => {
    throw new Error(`${wanted} leads to ${target}, which is gone: put it back, or remove the link to begin empty`);
  });
  // A user may have chosen another name.
  const name = basename(target);
  if (!name.startsWith(FALLBACK_PREFIX) || name === (await fallbackName(wanted))) return;
  throw new Error(
    `${wanted} leads to ${target}, the database of another data folder: move this one back, or remove the link`,
  );
}
