import { timestampOf } from "@toolgate/service-host/time";
import type { ExecutionRow } from "../../store/executions.ts";

const HOST_CALL_CHARACTERS = 150;

export function executionMessage({ startedAt, startedAtText: _, parentId, hostCalls, ...row }: ExecutionRow) {
  return {
    ...row,
    parentId: parentId ?? "",
    startedAt: timestampOf(startedAt),
    hostCalls: hostCalls.map(({ name, target, recorded, ...call }) => ({
      ...{ name, target, recorded },
      ...(call.started_after_ms !== undefined && { startedAfterMs: call.started_after_ms }),
      durationMs: call.duration_ms,
      errorCode: call.error_code,
    })),
  };
}

/** What a run of the log takes up, about. */
export function loggedCharacters({ argsJson, resultJson, logs, hostCalls, error }: ExecutionRow): number {
  let characters = argsJson.length + resultJson.length + error.length + hostCalls.length * HOST_CALL_CHARACTERS;
  for (const line of logs) characters += line.length;
  return characters;
}
