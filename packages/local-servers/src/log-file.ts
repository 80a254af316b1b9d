import { mkdir, open, readFile, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";

const MAX_LOG_BYTES = 10_000_000;
const TAIL_LINES = 12;

/** Opens a log for appending; one that has grown beyond 10 MB is put aside as `<file>.1` first. */
export async function openLog(file: string) {
  await mkdir(dirname(file), { recursive: true });
  const old = await stat(file).catch(() => undefined);
  if (old && old.size > MAX_LOG_BYTES) await rename(file, `${file}.1`);
  const handle = await open(file, "a", 0o600);
  return { handle, startBytes: (await handle.stat()).size };
}

/** The last lines written to `file` since byte `fromBytes`. */
export async function readTail(file: string, fromBytes: number): Promise<string> {
  const written = (await readFile(file)).toString("utf8", fromBytes).trimEnd();
  return written.split("\n").slice(-TAIL_LINES).join("\n") || "(its log is empty)";
}
