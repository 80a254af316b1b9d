import { randomUUID } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createBatchingPublisher } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import type { GroupCommit } from "@toolgate/event-bus/group-commit";
import { UsageBatchSchema, type UsageRecord, UsageRecordSchema } from "@toolgate/gen/toolgate/events/v1/records_pb";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { RunResponse } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { canonicalIp, shortIp } from "@toolgate/ip-address/ip-address";
import { refusals } from "@toolgate/telemetry/instruments";
import { currentRequestId } from "@toolgate/telemetry/request";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ToolRun } from "../../clients/hot-calls.ts";
import type { CallContext } from "../../context.ts";
import { secondsUntilReset } from "../../domain/rate-limit-fields.ts";
import { apiKeyOf, IDEMPOTENCY_KEY_HEADER, readIdempotencyKey } from "../../domain/request-headers.ts";
import {
  type ApiResponse,
  IDEMPOTENCY_KEY_IN_USE,
  IDEMPOTENCY_KEY_REUSED,
  INTERNAL_ERROR,
  invalidParameters,
  limitReached,
  OUTCOME_UNKNOWN,
  replayed,
  TOOL_FAILED,
  TOOL_UNAVAILABLE,
  toolResult,
  UNAUTHENTICATED,
} from "../../domain/responses.ts";
import { loggedToolName } from "../../domain/text.ts";
import { dropLimitHeaders, sendResponse, setLimitHeaders } from "../key-api.ts";
import { TOOLS_PATH } from "../paths.ts";
import { refusalOfTurn, WEIGHTS } from "../workspace-turns.ts";
import { readBody } from "./request-body.ts";

const RECORD_BYTES = 256;
/** Of a call that tool-runner did not start because of its workspace's share, after a wait of its own. */
const RETRY_AFTER_S = 5;

/** Less than the 30 s for which key-auth promises that it is valid, so that 10 s remain to reach tool-runner. */
const GRANT_USED_FOR_MS = 20_000;

/** [TOOL-5] POST /api/v1/tools/{tool}. */
export function toolRoutes(context: CallContext) {
  return async (app: FastifyInstance): Promise<void> => {
    app.post(`${TOOLS_PATH}*`, {
      onRequest(request, _reply, done) {
        // [TOOL] The body is read as JSON, under any content type.
        request.headers["content-type"] = undefined;
        done();
      },
      handler: (request, reply) => callTool(context, request, reply),
    });
  };
}

async function callTool(context: CallContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const secret = apiKeyOf(request.headers.authorization);
  // [TOOL-6] The router has decoded it once.
  const { "*": tool } = request.params as { "*": string };
  const call = await verifyCall(context, { secret, tool, clientIp: request.ip });
  if (!call) return sendResponse(reply, UNAUTHENTICATED);
  setLimitHeaders(reply, call.verdict, call.arrivedAtMs);
  const response = await responseOf(context, call, request, reply);
  if (response === UNAUTHENTICATED) dropLimitHeaders(reply);
  await logCall(context, call, response.status);
  return sendResponse(reply, response);
}

async function responseOf(
  context: CallContext,
  call: VerifiedCall,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ApiResponse> {
  const refusal =
    refusalOf(call) ??
    (await refusalOfTurn(context.turns.calls, call.verdict.workspaceId, request, reply, WEIGHTS.call));
  return refusal ?? runRequest(context, call, request);
}

/** Reads the body only now, after the key, the limit and the lock have been checked. */
async function runRequest(context: CallContext, call: VerifiedCall, request: FastifyRequest): Promise<ApiResponse> {
  const { bytes, violation } = await readBody(request.raw);
  let verdict: KeyVerdict | undefined;
  try {
    verdict = await renewed(context, call, request);
  } catch (error) {
    context.log.error({ err: error, keyId: call.verdict.keyId }, "key not verified again");
    return INTERNAL_ERROR;
  }
  if (!verdict) return UNAUTHENTICATED;
  if (verdict.workspaceLocked) return TOOL_UNAVAILABLE;
  const idempotency = readIdempotencyKey(request.headers[IDEMPOTENCY_KEY_HEADER]);
  return runVerified(
    context,
    { ...call, verdict },
    {
      body: bytes,
      bodyFault: violation ?? idempotency.violation,
      idempotencyKey: idempotency.key,
    },
  );
}

/** Verifies the key again, without counting, when the body took so long that the grant may expire on its way. */
async function renewed(
  { verifyKey, now }: CallContext,
  { verdict, tool, arrivedAtMs }: VerifiedCall,
  { headers, ip }: FastifyRequest,
): Promise<KeyVerdict | undefined> {
  if (Math.abs(now() - arrivedAtMs) < GRANT_USED_FOR_MS) return verdict;
  const secret = apiKeyOf(headers.authorization) ?? "";
  return verifyKey(secret, { tool, count: false, clientIp: canonicalIp(ip) });
}

/** A call with a valid key, on its way to a response. */
export interface VerifiedCall {
  verdict: KeyVerdict;
  tool: string;
  ip: string;
  arrivedAtMs: number;
  started: number;
}

/** Verifies the key and counts the call. Undefined: the key is not valid. */
export async function verifyCall(
  { verifyKey, now }: CallContext,
  { secret, tool, clientIp }: { secret: string | undefined; tool: string; clientIp: string },
): Promise<VerifiedCall | undefined> {
  const started = performance.now();
  const arrivedAtMs = now();
  if (secret === undefined) return undefined;
  const verdict = await verifyKey(secret, { tool, count: true, clientIp: canonicalIp(clientIp) });
  return verdict && { verdict, tool, ip: shortIp(clientIp), arrivedAtMs, started };
}

/** The response to a call over its limit or to a locked workspace; undefined when the tool may run. */
export function refusalOf({ verdict, arrivedAtMs }: VerifiedCall): ApiResponse | undefined {
  if (!verdict.admitted) return limitReached(secondsUntilReset(verdict, arrivedAtMs));
  return verdict.workspaceLocked ? TOOL_UNAVAILABLE : undefined;
}

/** Calls tool-runner to run the tool. Never rejects. */
export async function runVerified(
  { runTool, log }: CallContext,
  { verdict, tool, ip }: VerifiedCall,
  sent: Pick<ToolRun, "body" | "bodyFault" | "idempotencyKey">,
): Promise<ApiResponse> {
  try {
    const response = await runTool(verdict, { ...sent, tool, ip });
    return response.replayed ? replayed(responseTo(response.outcome)) : responseTo(response.outcome);
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.ResourceExhausted) {
      refusals.add(1, { limiter: "workspace share" });
      return limitReached(RETRY_AFTER_S);
    }
    log.error({ err: error, keyId: verdict.keyId, tool: loggedToolName(tool) }, "tool call failed unexpectedly");
    return INTERNAL_ERROR;
  }
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

/** [LOG-2] Resolves once the broker has stored the usage record of the call. */
export async function logCall({ usage }: CallContext, call: VerifiedCall, status: number): Promise<void> {
  const record = create(UsageRecordSchema, {
    id: randomUUID(),
    keyId: call.verdict.keyId,
    tool: loggedToolName(call.tool),
    status,
    durationMs: Math.round(performance.now() - call.started),
    ip: call.ip,
    atMs: BigInt(call.arrivedAtMs),
    requestId: currentRequestId(),
  });
  await usage.add(record);
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
