import { mkdir, open, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";

const MAX_LOG_BYTES = 10_000_000;
const TAIL_BYTES = 4_096;
const TAIL_LINES = 12;

/** Opens a log for appending; one that has grown beyond 10 MB is put aside as `<file>.1` first. */
export async function openLog(file: string) {
  await mkdir(dirname(file), { recursive: true });
  const size = await sizeOf(file);
  if (size > MAX_LOG_BYTES) await rename(file, `${file}.1`);
  const handle = await open(file, "a", 0o600);
  return { handle, startBytes: size > MAX_LOG_BYTES ? 0 : size };
}

/** The last lines written to `file` since byte `fromBytes`. */
export async function readTail(file: string, fromBytes: number): Promise<string> {
  const size = await sizeOf(file);
  const start = Math.max(fromBytes, size - TAIL_BYTES);
  if (size <= start) return "(its log is empty)";
  await using handle = await open(file, "r");
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
  return buffer.toString("utf8", 0, bytesRead).trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
