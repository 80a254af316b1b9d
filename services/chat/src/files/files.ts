import { randomUUID } from "node:crypto";
import type { Pool } from "@toolgate/postgres/pool";
import { MAX_FILE_BYTES } from "@toolgate/rules/chat-message";
import { refusal } from "../domain/chat-error.ts";
import { mediaTypeOf, SIGNATURE_BYTES } from "../domain/media-type.ts";
import type { ModelFile } from "../models/model.ts";
import { addFile, completeFile, deleteFile, type ExpiredFile, findExpiredFiles, findFile } from "../store/files.ts";
import type { ObjectStore } from "./folder-store.ts";

interface FilesOptions {
  pool: Pool;
  /** Undefined: this installation stores no files. */
  objects: ObjectStore | undefined;
  now: () => Date;
}

const MAX_USER_BYTES = 1024 * 1024 * 1024;
const EXPIRED_AT_ONCE = 20;

export type Files = ReturnType<typeof createFiles>;

/** The files that users attach to messages. */
export function createFiles({ pool, objects, now }: FilesOptions) {
  async function remove(id: string): Promise<void> {
    await objects?.delete(id);
    await deleteFile(pool, id);
  }
  return {
    /** [CHAT-11] Throws a refusal for a file that is empty or too large. */
    async store({ userId, name }: { userId: string; name: string }, chunks: AsyncIterable<Uint8Array>) {
      if (!objects) throw refusal("INVALID_FILE", "file: this installation stores no files");
      const id = randomUUID();
      const limits = { maxUserBytes: MAX_USER_BYTES, assumedBytes: MAX_FILE_BYTES };
      if (!(await addFile(pool, { id, userId, name, now: now(), ...limits })))
        throw refusal("TOO_MANY_FILES", "file: your files of the last 30 days take too much space");
      const measured = measure(chunks);
      try {
        await objects.write(id, measured.chunks());
        await completeFile(pool, id, measured.size(), mediaTypeOf(measured.start()));
      } catch (error) {
        await remove(id);
        throw error;
      }
      return { id, size: measured.size() };
    },
    /** The file of a message; none when it has expired. A model that reads no files gets it without its data. */
    async read(id: string, { withData }: { withData: boolean }): Promise<ModelFile[]> {
      const [file, data] = await Promise.all([findFile(pool, id), withData ? objects?.read(id) : new Uint8Array()]);
      return file && data ? [{ name: file.name, mediaType: file.contentType, data }] : [];
    },
    /** Deletes what is no longer needed. Files that cannot be deleted stay, and it rejects after it has tried all. */
    async expire(): Promise<void> {
      let failed = 0;
      let cause: unknown;
      let after: ExpiredFile | undefined;
      do {
        const files = await findExpiredFiles(pool, { now: now(), after, limit: EXPIRED_AT_ONCE });
        for (const { id } of files) {
          try {
            await remove(id);
          } catch (error) {
            failed += 1;
            cause ??= error;
          }
        }
        after = files.length < EXPIRED_AT_ONCE ? undefined : files.at(-1);
      } while (after);
      if (failed > 0) throw new Error(`${failed} files cannot be deleted`, { cause });
    },
  };
}

/** Passes chunks on, and notes their size and first bytes. Throws when there are too many bytes, or none. */
function measure(source: AsyncIterable<Uint8Array>) {
  let size = 0;
  let start = Buffer.alloc(0);
  return {
    size: () => size,
    start: () => start,
    async *chunks(): AsyncGenerator<Uint8Array> {
      for await (const chunk of source) {
        size += chunk.length;
        if (size > MAX_FILE_BYTES) throw refusal("FILE_TOO_LARGE", "file: at most 20 MB");
        if (start.length < SIGNATURE_BYTES) start = Buffer.concat([start, chunk.subarray(0, SIGNATURE_BYTES)]);
        yield chunk;
      }
      if (size === 0) throw refusal("INVALID_FILE", "file: empty");
    },
  };
}
