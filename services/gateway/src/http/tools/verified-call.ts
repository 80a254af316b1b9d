import { randomUUID } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { createBatchingPublisher } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import type { GroupCommit } from "@toolgate/event-bus/group-commit";
import { UsageBatchSchema, type UsageRecord, UsageRecordSchema } from "@toolgate/gen/toolgate/events/v1/records_pb";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { RunResponse } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { canonicalIp, shortIp } from "@toolgate/ip-address/ip-address";
import { currentRequestId } from "@toolgate/telemetry/request";
import type { FastifyRequest } from "fastify";
import type { ToolRun } from "../../clients/hot-calls.ts";
import type { CallContext } from "../../context.ts";
import {
  type ApiResponse,
  limitReached,
  secondsUntilReset,
  TOOL_FAILED,
  TOOL_UNAVAILABLE,
} from "../../domain/responses.ts";
import { loggedToolName } from "../../domain/text.ts";

const OK = 200;
const RECORD_BYTES = 256;

/** A call with a valid key, on its way to a response. */
export interface VerifiedCall {
  verdict: KeyVerdict;
  tool: string;
  clientIp: string;
  /** Shortened, as it is logged. */
  ip: string;
  arrivedAtMs: number;
  started: number;
  usage: CallUsage;
}

/** A call's usage record, as far as it is known. */
interface CallUsage {
  readonly id: string;
  /** Whether tool-runner has recorded the call. */
  recorded: "no" | "yes" | "perhaps";
}

/** What is known of a call before anything is waited for. Node forgets the address of a client that has disconnected. */
interface Arrival {
  clientIp: string;
  arrivedAtMs: number;
  started: number;
}

export function arrivalOf({ now }: CallContext, { ip }: FastifyRequest): Arrival {
  return { clientIp: ip, arrivedAtMs: now(), started: performance.now() };
}

/** Verifies the key and counts the call. Undefined: the key is not valid. */
export async function verifyCall(
  { verifyKey }: CallContext,
  { secret, tool, clientIp, arrivedAtMs, started }: Arrival & { secret: string | undefined; tool: string },
): Promise<VerifiedCall | undefined> {
  if (secret === undefined) return undefined;
  const verdict = await verifyKey(secret, { tool, count: true, clientIp: canonicalIp(clientIp) });
  if (!verdict) return undefined;
  return {
    verdict,
    tool,
    clientIp,
    ip: shortIp(clientIp),
    arrivedAtMs,
    started,
    usage: { id: randomUUID(), recorded: "no" },
  };
}

/** The response to a call over its limit or to a locked workspace; undefined for any other. */
export function refusalOf({ verdict }: VerifiedCall, nowMs: number): ApiResponse | undefined {
  if (!verdict.admitted) return limitReached(secondsUntilReset(verdict, nowMs));
  return verdict.workspaceLocked ? TOOL_UNAVAILABLE : undefined;
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

/** [LOG-2] Sends the calls of one tick as one message; `add` resolves once the broker has written it. */
export function createUsageRecorder(bus: Bus): GroupCommit<UsageRecord> {
  return createBatchingPublisher({
    bus,
    subject: "records.usage",
    sizeOf: (record) => RECORD_BYTES + record.tool.length,
    encode: (records) => toBinary(UsageBatchSchema, create(UsageBatchSchema, { records })),
  });
}
