import { create, toBinary } from "@bufbuild/protobuf";
import { createBatchingPublisher } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import type { GroupCommit } from "@toolgate/event-bus/group-commit";
import {
  ExecutionBatchSchema,
  type ExecutionRecord,
  ExecutionRecordSchema,
} from "@toolgate/gen/toolgate/events/v1/records_pb";
import type { LoadedTool } from "./definitions.ts";
import type { HostCallEntry } from "./host-call-log.ts";
import type { RunScope } from "./run-scope.ts";
import type { Shown } from "./shown.ts";

export type Recorder = GroupCommit<ExecutionRecord>;

const FIXED_BYTES = 512;

/** Records of one tick travel as one message; `add` resolves once the broker has written it. */
export function createRecorder(bus: Bus): Recorder {
  return createBatchingPublisher({
    bus,
    subject: "records.execution",
    sizeOf: ({ argsJson, resultJson, error, hostCallsJson, logsJson }) =>
      FIXED_BYTES + argsJson.length + resultJson.length + error.length + hostCallsJson.length + logsJson.length,
    encode: (records) => toBinary(ExecutionBatchSchema, create(ExecutionBatchSchema, { records })),
  });
}

export interface FinishedRun {
  id: string;
  parentId: string;
  tool: LoadedTool;
  startedAtMs: number;
  durationMs: number;
  args: Shown;
  result: Shown;
  /** Empty when the run succeeded. */
  error: string;
  /** What the log keeps beside the error, and nobody else sees. */
  details: string[];
  hostCalls: HostCallEntry[];
  logs: string[];
}

const MAX_LOGGED_CHARACTERS = 65_536;
const MAX_ERROR_CHARACTERS = 4_000;

export function executionRecord(run: FinishedRun, scope: RunScope): ExecutionRecord {
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
  });
}

/** What the log keeps of a value: its JSON text, or its size alone when that is longer than the log keeps. */
function loggedJson({ characters, value }: Shown): string {
  // Not worked out for its size alone: that takes long, and nobody else is served meanwhile.
  if (characters > MAX_LOGGED_CHARACTERS) return JSON.stringify({ truncated: true, characters });
  const text = JSON.stringify(value()) ?? "null";
  return text.length <= MAX_LOGGED_CHARACTERS ? text : JSON.stringify({ truncated: true, characters: text.length });
}

/** Postgres text holds no NUL. */
function withoutNul(text: string): string {
  return text.replaceAll("\u0000", "");
}
