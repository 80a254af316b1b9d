import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type CallCosts, readCallCosts } from "./read-table.ts";

const ENTRY = fileURLToPath(new URL("../../call-stream.ts", import.meta.url));
const TIMEOUT_MS = 120_000;

export async function measureCallStream(signal: AbortSignal): Promise<CallCosts[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [ENTRY], { timeout: TIMEOUT_MS, signal });
  return readCallCosts(stdout);
}
