import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { lockDataFolder } from "@toolgate/local/data-lock";
import { removeDataFolder } from "@toolgate/local-servers/data-folder";

type WorkFolder = AsyncDisposable & { readonly path: string };

/**
 * The folder for the servers' data, on a real disk and not in memory. What a killed run left in it, including its
 * servers, is removed first; disposing removes everything of this run.
 */
export async function openWorkFolder(path: string): Promise<WorkFolder> {
  await mkdir(path, { recursive: true });
  const lock = await lockDataFolder(path, 0);
  await removeInstallations(path);
  return {
    path,
    async [Symbol.asyncDispose]() {
      await removeInstallations(path);
      await lock[Symbol.asyncDispose]();
      await rm(path, { recursive: true, force: true });
    },
  };
}

async function removeInstallations(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    const folder = join(path, name);
    if (existsSync(join(folder, "ports.json"))) await removeDataFolder(folder);
  }
}
