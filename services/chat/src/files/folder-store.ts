import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** Where the contents of uploaded files are. An object is written once and never changed. */
export interface ObjectStore {
  /** Stores the whole content, or nothing when reading the chunks fails. Resolves once it is safe. */
  write(id: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** Undefined when there is no such object. */
  read(id: string): Promise<Buffer | undefined>;
  /** Deleting what does not exist is not an error. */
  delete(id: string): Promise<void>;
}

/** Keeps objects as files of a folder, which all processes of the service share. Ids must be UUIDs. */
export async function openFolderStore(folder: string): Promise<ObjectStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const pathOf = (id: string) => join(folder, id);
  return {
    async write(id, chunks) {
      const unfinished = `${pathOf(id)}.part`;
      try {
        await using file = await open(unfinished, "wx", 0o600);
        for await (const chunk of chunks) await file.writeFile(chunk);
        await file.sync();
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
      await rename(unfinished, pathOf(id));
    },
    async read(id) {
      try {
        return await readFile(pathOf(id));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
    },
    async delete(id) {
      await rm(pathOf(id), { force: true });
      await rm(`${pathOf(id)}.part`, { force: true });
    },
  };
}
