import type { HostCallEntry } from "./host-calls/host-call.ts";
import type { RunScope } from "./run-scope.ts";
import type { LoadedTool } from "./workspace/definitions.ts";

/** One execution of a tool. */
export interface Run {
  id: string;
  /** Empty for a run that was started from outside. */
  parentId: string;
  /** 1 for a run that was started from outside. */
  depth: number;
  /** Ends when the run that called it ends. */
  signal: AbortSignal | undefined;
  tool: LoadedTool;
  scope: RunScope;
  startedAtMs: number;
  /** Stored next to the error in the log, and shown nowhere else. */
  details: string[];
  hostCalls: HostCallEntry[];
  logs: string[];
  /** A platform failure in one of the run's host calls. If the tool then fails, this is the reason. */
  platformError: Error | undefined;
}

export interface FinishedRun extends Run {
  durationMs: number;
  args: RedactedJson;
  result: RedactedJson;
  /** Empty when the run succeeded. */
  error: string;
}

/** Arguments or a result as the log and events may show them; redacted when first needed. */
export interface RedactedJson {
  /** Length of the JSON text before redaction. */
  characters: number;
  value: () => unknown;
}

export function redactedJson(json: string, redact: (value: unknown) => unknown): RedactedJson {
  let redacted: { value: unknown } | undefined;
  return {
    characters: json.length,
    value: () => {
      redacted ??= { value: redact(JSON.parse(json)) };
      return redacted.value;
    },
  };
}
