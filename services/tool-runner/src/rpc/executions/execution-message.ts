import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ExecutionRow } from "../../store/executions.ts";

export function executionMessage({ startedAt, startedAtText: _, parentId, hostCalls, ...row }: ExecutionRow) {
  return {
    ...row,
    parentId: parentId ?? "",
    startedAt: timestampFromDate(startedAt),
    hostCalls: hostCalls.map(({ duration_ms: durationMs, error_code: errorCode, ...call }) => ({
      ...call,
      durationMs,
      errorCode,
    })),
  };
}
