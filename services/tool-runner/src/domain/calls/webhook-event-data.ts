import { shownError } from "@toolgate/redaction/error-text";
import { isDeeperThan, isJsonObject } from "@toolgate/rules/json-object";

export type CompletedRun = {
  tool: string;
  /** Null if the run succeeded. */
  error: string | null;
  entryType: string;
  executionId: string;
  durationMs: number;
  /** Redacted, like `result`. */
  args: unknown;
  result: unknown;
};

export const MAX_EVENT_BYTES = 256 * 1024;
const ENVELOPE_BYTES = 1024;
/** [OUT-17] With at most this many bytes of data, a custom event and its envelope stay within the limit. */
export const MAX_DATA_BYTES = MAX_EVENT_BYTES - ENVELOPE_BYTES;

/** [EVT-23] The data of `tool.completed` as JSON text. If it is too large, arguments and result are left out. */
export function completedData({ error, args, result, ...run }: CompletedRun): string {
  const success = error === null;
  const data = {
    tool: run.tool,
    success,
    error: error === null ? null : shownError(error),
    entry_type: run.entryType,
    execution_id: run.executionId,
    duration_ms: Math.max(0, Math.round(run.durationMs)),
    args: isJsonObject(args) ? args : {},
    result: isJsonObject(result) ? result : success ? { value: result ?? null } : {},
  };
  const json = JSON.stringify(data);
  // What is a little too large with its envelope, outbound-webhook truncates, which knows the envelope.
  return Buffer.byteLength(json) <= MAX_EVENT_BYTES
    ? json
    : JSON.stringify({ ...data, args: null, result: null, truncated: true });
}

const CUSTOM_NAME = /^[a-z0-9._-]{1,60}$/;
const MAX_DATA_LEVELS = 64;

/** [EVT-57] [EVT-58] Why a tool may not emit this event, worded for the tool; undefined when it may. */
export function customEventViolation(name: unknown, data: unknown): string | undefined {
  if (typeof name !== "string" || !CUSTOM_NAME.test(name)) {
    return "the event name must be 1 to 60 lower-case letters, digits, dots, underscores and hyphens";
  }
  if (!isJsonObject(data)) return "the event data must be an object";
  if (isDeeperThan(data, MAX_DATA_LEVELS)) {
    return `the event data must not be nested more than ${MAX_DATA_LEVELS} levels deep`;
  }
  return Buffer.byteLength(JSON.stringify(data)) <= MAX_DATA_BYTES
    ? undefined
    : `the event data must not exceed ${MAX_DATA_BYTES} bytes`;
}
