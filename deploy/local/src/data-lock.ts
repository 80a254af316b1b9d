import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startMark } from "@toolgate/local-servers/process-table";

const MAX_TRIES = 5;

type Holder = { readonly pid: number; readonly started: string; readonly port: number };

/**
 * Keeps other runs away from a data folder until disposed. The lock of a run that was killed is taken over: its holder
 * counts only while a process with its pid and its start time exists.
 */
export async function lockDataFolder(dataDir: string, port: number): Promise<AsyncDisposable> {
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, "lock");
  const mine = `${file}.${process.pid}`;
  const content = JSON.stringify({ pid: process.pid, started: (await startMark(process.pid)) ?? "", port });
  await writeFile(mine, content);
  try {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (await linked(mine, file)) return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
      const holder = await readHolder(file);
      if (holder && (await startMark(holder.pid)) === holder.started) {
        throw new Error(
          `Toolgate already runs on ${dataDir} (process ${holder.pid}, port ${holder.port}): stop it first, or choose another folder with DATA_DIR`,
        );
      }
      await rename(file, `${mine}.stale`).catch(() => {});
    }
    throw new Error(`${file} cannot be taken: delete it when no other run uses this folder`);
  } finally {
    await rm(mine, { force: true });
    await rm(`${mine}.stale`, { force: true });
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function readHolder(file: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}
