import { Code, ConnectError } from "@connectrpc/connect";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { RunResponse } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { canonicalIp } from "@toolgate/ip-address/ip-address";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ToolRun } from "../../clients/hot-calls.ts";
import type { CallContext } from "../../context.ts";
import { apiKeyOf, IDEMPOTENCY_KEY_HEADER, readIdempotencyKey } from "../../domain/request-headers.ts";
import {
  type ApiResponse,
  IDEMPOTENCY_KEY_IN_USE,
  IDEMPOTENCY_KEY_REUSED,
  INTERNAL_ERROR,
  invalidParameters,
  NOT_FOUND,
  OUTCOME_UNKNOWN,
  replayed,
  serverBusy,
  TOOL_FAILED,
  TOOL_UNAVAILABLE,
  toolResult,
  UNAUTHENTICATED,
} from "../../domain/responses.ts";
import { loggedToolName } from "../../domain/text.ts";
import { dropLimitHeaders, sendResponse, setLimitHeaders } from "../key-api.ts";
import { TOOLS_PATH } from "../paths.ts";
import { readCallBody } from "../request-bytes.ts";
import { BUSY_RETRY_AFTER_S, takeSlot } from "../slots.ts";
import {
  arrivalOf,
  logCall,
  recordedBy,
  refusalOf,
  usageForRun,
  type VerifiedCall,
  verifyCall,
} from "./verified-call.ts";

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
  const arrival = arrivalOf(context, request);
  const secret = apiKeyOf(request.headers.authorization);
  // [TOOL-6] The router has decoded it once.
  const { "*": tool } = request.params as { "*": string };
  // A slash in the name itself is encoded.
  const [path = ""] = request.url.split("?", 1);
  if (path.split("/").length !== TOOLS_PATH.split("/").length) return sendResponse(reply, NOT_FOUND);
  const call = await verifyCall(context, { secret, tool, ...arrival });
  if (!call) return sendResponse(reply, UNAUTHENTICATED);
  setLimitHeaders(reply, call.verdict, call.arrivedAtMs);
  const refusal = refusalOf(call, context.now());
  using slot = refusal ? undefined : await takeSlot(context.slots.calls, call.verdict.workspaceId, reply.raw);
  const response = slot ? await runRequest(context, call, request) : (refusal ?? serverBusy(BUSY_RETRY_AFTER_S));
  if (response === UNAUTHENTICATED) dropLimitHeaders(reply);
  await logCall(context, call, response.status);
  return sendResponse(reply, response);
}

/** Reads the body only now, after the key, the limit and the lock have been checked. */
async function runRequest(context: CallContext, call: VerifiedCall, request: FastifyRequest): Promise<ApiResponse> {
  const { bytes, violation } = await readCallBody(request.raw);
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
  { verdict, tool, clientIp, arrivedAtMs }: VerifiedCall,
  { headers }: FastifyRequest,
): Promise<KeyVerdict | undefined> {
  if (Math.abs(now() - arrivedAtMs) < GRANT_USED_FOR_MS) return verdict;
  const secret = apiKeyOf(headers.authorization) ?? "";
  return verifyKey(secret, { tool, count: false, clientIp: canonicalIp(clientIp) });
}

/** Calls tool-runner to run the tool. Never rejects. */
export async function runVerified(
  { runTool, log }: CallContext,
  call: VerifiedCall,
  sent: Pick<ToolRun, "body" | "bodyFault" | "idempotencyKey">,
): Promise<ApiResponse> {
  const { verdict, tool, ip, usage } = call;
  try {
    const response = await runTool(verdict, { ...sent, tool, ip, usage: usageForRun(call) });
    usage.recorded = recordedBy(response);
    return response.replayed ? replayed(responseTo(response.outcome)) : responseTo(response.outcome);
  } catch (error) {
    // tool-runner did not start it.
    if (error instanceof ConnectError && error.code === Code.ResourceExhausted) return serverBusy(BUSY_RETRY_AFTER_S);
    usage.recorded = "perhaps";
    // [ERR-18] What the tool returned is not JSON: its code is at fault, as the execution log says.
    if (error instanceof ConnectError && error.code === Code.DataLoss) return INTERNAL_ERROR;
    log.error({ err: error, keyId: verdict.keyId, tool: loggedToolName(tool) }, "tool call failed unexpectedly");
    return INTERNAL_ERROR;
  }
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
