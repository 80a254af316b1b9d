import { access, constants, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const SQLITE_BUSY = 5;

/**
 * Keeps other runs away from a data folder until disposed. The lock is SQLite's: it ends with the process, however that
 * one ends.
 */
export async function lockDataFolder(dataDir: string, port: number): Promise<AsyncDisposable> {
  await mkdir(dataDir, { recursive: true });
  // SQLite's own error does not name the file.
  await access(dataDir, constants.W_OK);
  const holder = join(dataDir, "lock-holder");
  const lock = new DatabaseSync(join(dataDir, "lock.db"), { timeout: 0 });
  try {
    lock.exec("begin immediate");
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    const who = await readFile(holder, "utf8").catch(() => "just started");
    throw new Error(
      `Toolgate already runs on ${dataDir} (${who}): stop it first, or choose another folder with DATA_DIR`,
    );
  }
  await writeFile(holder, `process ${process.pid}, port ${port}`);
  return { [Symbol.asyncDispose]: async () => lock.close() };
}
