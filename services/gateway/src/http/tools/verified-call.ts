import { randomUUID } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createBatchingPublisher } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import type { GroupCommit } from "@toolgate/event-bus/group-commit";
import { UsageBatchSchema, type UsageRecord, UsageRecordSchema } from "@toolgate/gen/toolgate/events/v1/records_pb";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import {
  KeyCallerSchema,
  type RunRequest,
  RunRequestSchema,
  type RunResponse,
  ViolationSchema,
} from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { shortIp } from "@toolgate/ip-address/ip-address";
import { currentRequestId } from "@toolgate/telemetry/request";
import type { FastifyRequest } from "fastify";
import type { CallContext } from "../../context.ts";
import { IDEMPOTENCY_KEY_HEADER, readIdempotencyKey } from "../../domain/request-headers.ts";
import {
  type ApiResponse,
  IDEMPOTENCY_KEY_IN_USE,
  IDEMPOTENCY_KEY_REUSED,
  INTERNAL_ERROR,
  invalidParameters,
  limitReached,
  OUTCOME_UNKNOWN,
  replayed,
  SERVER_BUSY,
  secondsUntilReset,
  TOOL_FAILED,
  TOOL_UNAVAILABLE,
  toolResult,
  type Violation,
} from "../../domain/responses.ts";
import { loggedToolName } from "../../domain/text.ts";
import { verifyKey } from "../key-api.ts";

const OK = 200;
const RECORD_BYTES = 256;

/** A call with a valid key, on its way to a response, over REST or MCP. */
export interface VerifiedCall {
  verdict: KeyVerdict;
  readonly tool: string;
  readonly clientIp: string;
  readonly arrivedAtMs: number;
  /** performance.now() at the same time. */
  readonly started: number;
  readonly usageId: string;
  /** Whether tool-runner has stored the usage record. */
  recorded: "no" | "yes" | "perhaps";
}

/** Verifies the key and counts the call. Undefined: the key is not valid. */
export async function verifyCall(
  context: CallContext,
  request: FastifyRequest,
  tool: string,
): Promise<VerifiedCall | undefined> {
  // Node forgets the address of a client that has disconnected.
  const { ip: clientIp } = request;
  const [arrivedAtMs, started] = [context.now(), performance.now()];
  const verdict = await verifyKey(context, request, { tool, count: true });
  return verdict && { verdict, tool, clientIp, arrivedAtMs, started, usageId: randomUUID(), recorded: "no" };
}

/** The response to a call over its limit or to a locked workspace; undefined for any other. */
export function refusalOf({ verdict }: VerifiedCall, nowMs: number): ApiResponse | undefined {
  if (!verdict.admitted) return limitReached(secondsUntilReset(verdict, nowMs));
  return verdict.workspaceLocked ? TOOL_UNAVAILABLE : undefined;
}

/** What a call sends; `violation`: why the body cannot be used. */
interface SentBody {
  body: Uint8Array;
  violation: Violation | undefined;
}

/** Calls tool-runner to run the tool. Never rejects. */
export async function runVerified(
  { run, log }: CallContext,
  call: VerifiedCall,
  { headers }: FastifyRequest,
  sent: SentBody,
): Promise<ApiResponse> {
  try {
    const response = await run(requestOf(call, sent, headers[IDEMPOTENCY_KEY_HEADER]));
    if (response.usageRecorded) call.recorded = "yes";
    else if (response.outcome.case === "outcomeUnknown") call.recorded = "perhaps";
    return response.replayed ? replayed(responseTo(response.outcome)) : responseTo(response.outcome);
  } catch (error) {
    // tool-runner did not start it.
    if (error instanceof ConnectError && error.code === Code.ResourceExhausted) return SERVER_BUSY;
    call.recorded = "perhaps";
    // [ERR-18] What the tool returned is not JSON: its code is at fault, as the execution log says.
    if (error instanceof ConnectError && error.code === Code.DataLoss) return INTERNAL_ERROR;
    const { verdict, tool } = call;
    log.error({ err: error, keyId: verdict.keyId, tool: loggedToolName(tool) }, "tool call failed unexpectedly");
    return INTERNAL_ERROR;
  }
}

/** A request that cannot be used still goes to tool-runner, whose release check comes first. */
function requestOf(
  { verdict, tool, clientIp, usageId, arrivedAtMs, started }: VerifiedCall,
  { body, violation }: SentBody,
  idempotencyHeader: string | string[] | undefined,
): RunRequest {
  const idempotency = readIdempotencyKey(idempotencyHeader);
  const fault = violation ?? idempotency.violation;
  const caller = create(KeyCallerSchema, {
    keyId: verdict.keyId,
    keyName: verdict.keyName,
    ip: shortIp(clientIp),
    toolListed: verdict.toolListed,
    grant: verdict.grant,
    // tool-runner records the call together with the run.
    usage: {
      id: usageId,
      atMs: BigInt(arrivedAtMs),
      elapsedMs: Math.floor(performance.now() - started),
      okStatus: OK,
      failedStatus: TOOL_FAILED.status,
    },
  });
  return create(RunRequestSchema, {
    workspaceId: verdict.workspaceId,
    workspace: verdict.workspace,
    workspaceEpoch: verdict.workspaceEpoch,
    // Postgres cannot store NUL. U+FFFD is safe: no tool name contains it.
    tool: tool.replaceAll("\u0000", "\ufffd"),
    ...(fault ? { bodyFault: create(ViolationSchema, fault) } : { body, idempotencyKey: idempotency.key }),
    caller: { case: "key", value: caller },
  });
}

function responseTo(outcome: RunResponse["outcome"]): ApiResponse {
  switch (outcome.case) {
    case "resultJson":
      return toolResult(outcome.value);
    case "invalidArguments":
      return invalidParameters(outcome.value.violations);
    case "toolFailed":
      return TOOL_FAILED;
    case "unavailable":
      return TOOL_UNAVAILABLE;
    case "idempotencyMismatch":
      return IDEMPOTENCY_KEY_REUSED;
    case "idempotencyInProgress":
      return IDEMPOTENCY_KEY_IN_USE;
    case "outcomeUnknown":
      return OUTCOME_UNKNOWN;
    default:
      // This gateway does not know its kind.
      return INTERNAL_ERROR;
  }
}

/** [LOG-2] Resolves once the broker has stored the usage record of the call; tool-runner has done so if the tool ran. */
export async function logCall({ usage }: CallContext, call: VerifiedCall, status: number): Promise<void> {
  if (call.recorded === "yes") return;
  const record = create(UsageRecordSchema, {
    id: call.usageId,
    keyId: call.verdict.keyId,
    tool: loggedToolName(call.tool),
    status,
    durationMs: Math.round(performance.now() - call.started),
    ip: shortIp(call.clientIp),
    atMs: BigInt(call.arrivedAtMs),
    requestId: currentRequestId(),
    corrects: call.recorded === "perhaps",
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
