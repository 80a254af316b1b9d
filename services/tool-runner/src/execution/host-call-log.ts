import { ToolError } from "./run-scope.ts";

/** One call of a run to its host, as the execution log keeps it. */
export interface HostCallEntry {
  name: string;
  /** What was named: a tool, a query, a sheet, a host. Never a value. */
  target: string;
  duration_ms: number;
  /** Empty when it succeeded. */
  error_code: string;
  recorded: boolean;
}

const MAX_ENTRIES = 100;
const MAX_TARGET_CHARS = 200;

/** Times a call and keeps it among the run's entries. `work` names the target as soon as it knows it. */
export async function logged<T>(
  entries: HostCallEntry[],
  name: string,
  work: (entry: HostCallEntry) => Promise<T>,
): Promise<T> {
  const entry = { name, target: "", duration_ms: 0, error_code: "", recorded: false };
  const started = performance.now();
  try {
    return await work(entry);
  } catch (error) {
    entry.recorded = false;
    entry.error_code = error instanceof ToolError ? error.code : "FAILED";
    throw error;
  } finally {
    entry.duration_ms = Math.round(performance.now() - started);
    entry.target = entry.target.slice(0, MAX_TARGET_CHARS);
    if (entries.length < MAX_ENTRIES) entries.push(entry);
  }
}
