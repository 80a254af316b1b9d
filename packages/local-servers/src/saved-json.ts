import { readFile, rename, writeFile } from "node:fs/promises";

/** The value that `saveJson` wrote to `file`, or `undefined` when there is no such file. Throws when it cannot be read. */
export async function loadJson<T>(file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes `value` as JSON that only its owner may read; an interrupted write leaves the old file as it was. */
export async function saveJson(file: string, value: unknown): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
