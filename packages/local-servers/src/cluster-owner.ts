import { createHash } from "node:crypto";
import { access, readFile, readlink, realpath, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

const PATH_HASH_LENGTH = 12;
const MARK = "owner";

/** Where the symbolic link at `path` leads, or `undefined` when there is none. */
export async function linkTarget(path: string): Promise<string | undefined> {
  const link = await readlink(path).catch(() => undefined);
  return link === undefined ? undefined : resolve(dirname(path), link);
}

/** What the folder of a cluster is called that cannot be kept at `wanted`: no other data folder has the same name. */
export async function fallbackName(wanted: string): Promise<string> {
  const hash = createHash("sha256").update(await realPath(wanted));
  return `toolgate-${hash.digest("hex").slice(0, PATH_HASH_LENGTH)}`;
}

/** Marks the folder that the link `wanted` leads to as belonging to this link's data folder, and to none of its copies. */
export async function markOwner(wanted: string, target: string): Promise<void> {
  await writeFile(join(target, MARK), `${await realPath(wanted)}\n`, { mode: 0o600 });
}

/**
 * Throws when `wanted` is a symbolic link into nothing, or to the files of another data folder: the data folder was
 * copied or moved then, and using these files would take them from their owner.
 */
export async function refuseForeignLink(wanted: string): Promise<void> {
  const target = await linkTarget(wanted);
  if (target === undefined) return;
  const isThere = await access(target).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    throw new Error(
      `${wanted} leads to ${target}, which does not exist: put that folder back, or remove the link to begin with an empty database`,
    );
  }
  const [own, owner] = [await realPath(wanted), await ownerOf(target)];
  if (owner === own) return;
  // Without a mark the name tells whose it is, and other names were given by hand.
  if (
    owner === undefined &&
    (!basename(target).startsWith("toolgate-") || basename(target) === (await fallbackName(wanted)))
  )
    return;
  throw new Error(
    `${wanted} leads to ${target}, the database of ${owner ?? "another data folder"}: remove the link to begin with an empty database, or, when the data folder was moved here, write ${own} into ${join(target, MARK)}`,
  );
}

/** Throws when `folder`, which bears the name for `wanted`, has been given to another data folder. */
export async function refuseForeignMark(wanted: string, folder: string): Promise<void> {
  const owner = await ownerOf(folder);
  if (owner === undefined || owner === (await realPath(wanted))) return;
  throw new Error(`${folder} holds the database of ${owner}: choose another data folder (DATA_DIR)`);
}

async function ownerOf(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, MARK), "utf8").catch(() => undefined);
  return text?.trim();
}

async function realPath(wanted: string): Promise<string> {
  return join(await realpath(dirname(wanted)), basename(wanted));
}
