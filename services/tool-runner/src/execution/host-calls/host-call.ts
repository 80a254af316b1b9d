import { ToolError } from "../errors.ts";
import { type HostCallEntry, type Run, type RunScope, truncated } from "../run.ts";

/** The run that makes a host call, and the call. */
export interface HostCallContext {
  tool: string;
  scope: RunScope;
  entry: HostCallEntry;
  /** Ends when the run ends. */
  signal: AbortSignal;
}

const MAX_ENTRIES = 100;
const MAX_TARGET_CHARS = 200;

/** Measures a host call and adds it to the run's entries. `work` sets the target as soon as it knows it. */
export async function logged<T>(
  { hostCalls, startedMs }: Pick<Run, "hostCalls" | "startedMs">,
  name: string,
  work: (entry: HostCallEntry) => Promise<T>,
): Promise<T> {
  const started = performance.now();
  const entry: HostCallEntry = {
    name,
    target: "",
    started_after_ms: Math.round(started - startedMs),
    duration_ms: 0,
    error_code: "",
    recorded: false,
  };
  try {
    return await work(entry);
  } catch (error) {
    entry.recorded = false;
    entry.error_code = error instanceof ToolError ? error.code : "FAILED";
    throw error;
  } finally {
    entry.duration_ms = Math.round(performance.now() - started);
    entry.target = truncated(entry.target, MAX_TARGET_CHARS);
    if (hostCalls.length < MAX_ENTRIES) hostCalls.push(entry);
  }
}
