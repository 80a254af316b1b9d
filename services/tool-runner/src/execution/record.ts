import { create, toBinary } from "@bufbuild/protobuf";
import { createBatchingPublisher } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import {
  CallRecordBatchSchema,
  ExecutionBatchSchema,
  type ExecutionRecord,
  ExecutionRecordSchema,
  type UsageRecord,
  UsageRecordSchema,
} from "@toolgate/gen/toolgate/events/v1/records_pb";
import { currentRequestId } from "@toolgate/telemetry/request";
import type { FinishedRun, RedactedJson, ReportedCall } from "./run.ts";

export type Recorder = ReturnType<typeof createRecorder>;

const FIXED_BYTES = 512;
const USAGE_BYTES = 256;

/** About as many as the record has when it is encoded. */
function recordBytes({ argsJson, resultJson, error, hostCallsJson, logsJson }: ExecutionRecord): number {
  return FIXED_BYTES + argsJson.length + resultJson.length + error.length + hostCallsJson.length + logsJson.length;
}

/** Publishes the records of one tick as one message, or as two if only some of them have usage records. */
export function createRecorder(bus: Bus) {
  const resources = new AsyncDisposableStack();
  const runs = resources.use(
    createBatchingPublisher<ExecutionRecord>({
      bus,
      subject: "records.execution",
      sizeOf: recordBytes,
      encode: (records) => toBinary(ExecutionBatchSchema, create(ExecutionBatchSchema, { records })),
    }),
  );
  const calls = resources.use(
    createBatchingPublisher<{ execution: ExecutionRecord; usage: UsageRecord }>({
      bus,
      subject: "calls.record",
      sizeOf: ({ execution }) => recordBytes(execution) + USAGE_BYTES,
      encode: (records) => toBinary(CallRecordBatchSchema, create(CallRecordBatchSchema, { records })),
    }),
  );
  return {
    /** Resolves once the broker has stored the record of a run, and with it the usage record of the call that it answers. */
    add(run: FinishedRun, call: ReportedCall | undefined): Promise<void> {
      const execution = executionRecord(run);
      const usage = call && usageRecord(call, run);
      return usage ? calls.add({ execution, usage }) : runs.add(execution);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const MAX_LOGGED_CHARACTERS = 65_536;
const MAX_ERROR_CHARACTERS = 4_000;

export function executionRecord(run: FinishedRun): ExecutionRecord {
  const { scope } = run;
  return create(ExecutionRecordSchema, {
    id: run.id,
    parentId: run.parentId,
    workspaceId: scope.workspaceId,
    tool: run.tool.name,
    toolVersion: run.tool.version,
    entryType: scope.entryType,
    chatId: scope.chatId,
    callerId: scope.callerId,
    startedAtMs: BigInt(run.startedAtMs),
    durationMs: run.durationMs,
    success: run.error === "",
    error: withoutNul([run.error, ...run.details].join("\n").trim().slice(0, MAX_ERROR_CHARACTERS)),
    argsJson: loggedJson(run.args),
    resultJson: loggedJson(run.result),
    readOnly: scope.readOnly,
    hostCallsJson: JSON.stringify(run.hostCalls),
    logsJson: JSON.stringify(run.logs.map((line) => withoutNul(line).toWellFormed())),
    requestId: currentRequestId(),
  });
}

/** A value's JSON text, or only its length if it is too long for the log. */
function loggedJson({ characters, value }: RedactedJson): string {
  // Redacting a long value, of which only the length is logged, would block the event loop.
  if (characters > MAX_LOGGED_CHARACTERS) return JSON.stringify({ truncated: true, characters });
  const text = JSON.stringify(value()) ?? "null";
  return text.length <= MAX_LOGGED_CHARACTERS ? text : JSON.stringify({ truncated: true, characters: text.length });
}

/** Postgres cannot store NUL in text. */
function withoutNul(text: string): string {
  return text.replaceAll("\u0000", "");
}

/** [LOG-2] As the gateway writes it for calls whose tool does not run. */
function usageRecord(
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
