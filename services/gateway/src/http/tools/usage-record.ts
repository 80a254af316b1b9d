import { create, toBinary } from "@bufbuild/protobuf";
import { createBatchingPublisher } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import type { GroupCommit } from "@toolgate/event-bus/group-commit";
import { UsageBatchSchema, type UsageRecord, UsageRecordSchema } from "@toolgate/gen/toolgate/events/v1/records_pb";
import type { RunResponse } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { currentRequestId } from "@toolgate/telemetry/request";
import type { ToolRun } from "../../clients/hot-calls.ts";
import type { CallContext } from "../../context.ts";
import { TOOL_FAILED } from "../../domain/responses.ts";
import { loggedToolName } from "../../domain/text.ts";
import type { VerifiedCall } from "./verified-call.ts";

const OK = 200;
const RECORD_BYTES = 256;

/** [LOG-2] Sends the calls of one tick as one message; `add` resolves once the broker has written it. */
export function createUsageRecorder(bus: Bus): GroupCommit<UsageRecord> {
  return createBatchingPublisher({
    bus,
    subject: "records.usage",
    sizeOf: (record) => RECORD_BYTES + record.tool.length,
    encode: (records) => toBinary(UsageBatchSchema, create(UsageBatchSchema, { records })),
  });
}

/** What tool-runner needs to record the call together with the run. */
export function usageForRun({ usage, arrivedAtMs, started }: VerifiedCall): ToolRun["usage"] {
  return {
    id: usage.id,
    atMs: BigInt(arrivedAtMs),
    elapsedMs: Math.floor(performance.now() - started),
    okStatus: OK,
    failedStatus: TOOL_FAILED.status,
  };
}

export function recordedBy({ usageRecorded, outcome }: RunResponse): VerifiedCall["usage"]["recorded"] {
  if (usageRecorded) return "yes";
  return outcome.case === "outcomeUnknown" ? "perhaps" : "no";
}

/** [LOG-2] Resolves once the broker has stored the usage record of the call; tool-runner has done so if the tool ran. */
export async function logCall({ usage }: CallContext, call: VerifiedCall, status: number): Promise<void> {
  const { id, recorded } = call.usage;
  if (recorded === "yes") return;
  const record = create(UsageRecordSchema, {
    id,
    keyId: call.verdict.keyId,
    tool: loggedToolName(call.tool),
    status,
    durationMs: Math.round(performance.now() - call.started),
    ip: call.ip,
    atMs: BigInt(call.arrivedAtMs),
    requestId: currentRequestId(),
    corrects: recorded === "perhaps",
  });
  await usage.add(record);
}
