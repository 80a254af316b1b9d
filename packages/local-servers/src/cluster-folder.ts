import { chown, lstat, mkdir, readFile, realpath, rename, rm, rmdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Account, canUse } from "./account.ts";
import { fallbackName, linkTarget, markOwner, refuseForeignLink, refuseForeignMark } from "./cluster-owner.ts";
import { stopLeftover } from "./server-process.ts";

/** Where a cluster is kept when the user that runs PostgreSQL cannot reach the data folder. */
export const FALLBACK_ROOT = "/var/lib";

/**
 * The folder for PostgreSQL's files, made when missing, owned by `account` and reachable for it. When a parent of
 * `wanted` shuts that user out (a clone below /root), the files are kept below `fallbackRoot`, and `wanted` becomes
 * a symbolic link to them, which this data folder alone may follow. Answers the real path.
 */
export async function clusterFolder(wanted: string, account: Account | undefined, fallbackRoot = FALLBACK_ROOT) {
  const target = await linkTarget(wanted);
  if (target) {
    await refuseForeignLink(wanted);
    const linked = await makeFolder(target, account);
    await markOwner(wanted, linked);
    return linked;
  }
  await mkdir(dirname(wanted), { recursive: true });
  const folder = await makeFolder(wanted, account);
  if (!account || (await canUse(account, folder))) return folder;
  await rmdir(folder).catch(() => {
    throw new Error(`the user ${account.name}, who runs PostgreSQL, cannot reach ${folder}`);
  });
  const elsewhere = join(fallbackRoot, await fallbackName(wanted));
  await refuseForeignMark(wanted, elsewhere);
  await putAside(elsewhere);
  const made = await makeFolder(elsewhere, account);
  if (!(await canUse(account, made)))
    throw new Error(`the user ${account.name} can reach neither ${folder} nor ${made}`);
  await markOwner(wanted, made);
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
