import { create } from "@bufbuild/protobuf";
import { type UsageRecord, UsageRecordSchema } from "@toolgate/gen/toolgate/events/v1/records_pb";
import { currentRequestId } from "@toolgate/telemetry/request";
import type { FinishedRun, ReportedCall } from "./run.ts";

/** [LOG-2] As the gateway writes it for calls whose tool does not run. */
export function usageRecord(
  { caller: { keyId, ip, usage }, receivedMs }: ReportedCall,
  { tool, error }: FinishedRun,
): UsageRecord | undefined {
  if (!usage) return undefined;
  return create(UsageRecordSchema, {
    id: usage.id,
    keyId,
    tool: tool.name,
    status: error === "" ? usage.okStatus : usage.failedStatus,
    durationMs: usage.elapsedMs + Math.round(performance.now() - receivedMs),
    ip,
    atMs: usage.atMs,
    requestId: currentRequestId(),
  });
}
