import { timestampOf } from "@toolgate/service-host/time";
import type { ExecutionRow } from "../../store/executions.ts";

const HOST_CALL_CHARACTERS = 150;

export function executionMessage({ startedAt, startedAtText: _, parentId, hostCalls, ...row }: ExecutionRow) {
  return {
    ...row,
    parentId: parentId ?? "",
    startedAt: timestampOf(startedAt),
    hostCalls: hostCalls.map(({ duration_ms: durationMs, error_code: errorCode, ...call }) => ({
      ...call,
      durationMs,
      errorCode,
    })),
  };
}

/** What a run of the log takes up, about. */
export function loggedCharacters({ argsJson, resultJson, logs, hostCalls, error }: ExecutionRow): number {
  let characters = argsJson.length + resultJson.length + error.length + hostCalls.length * HOST_CALL_CHARACTERS;
  for (const line of logs) characters += line.length;
  return characters;
}
