import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { CallContext } from "../../context.ts";
import {
  type ApiResponse,
  INTERNAL_ERROR,
  NOT_FOUND,
  SERVER_BUSY,
  TOOL_UNAVAILABLE,
  UNAUTHENTICATED,
} from "../../domain/responses.ts";
import { dropLimitHeaders, sendResponse, setLimitHeaders, verifyKey } from "../key-api.ts";
import { TOOLS_PATH } from "../paths.ts";
import { ignoreContentType, MAX_CALL_BYTES, readBytes } from "../request-bytes.ts";
import { takeSlot } from "../slots.ts";
import { logCall, refusalOf, runVerified, type VerifiedCall, verifyCall } from "./verified-call.ts";

/** Less than the 30 s for which key-auth promises that it is valid, so that 10 s remain to reach tool-runner. */
const GRANT_USED_FOR_MS = 20_000;
const BODY_FAULTS = { "too-large": `body larger than ${MAX_CALL_BYTES} bytes`, "cut-short": "body ended too early" };

/** [TOOL-5] POST /api/v1/tools/{tool}. */
export function toolRoutes(context: CallContext) {
  return async (app: FastifyInstance): Promise<void> => {
    app.post(`${TOOLS_PATH}*`, {
      onRequest: ignoreContentType,
      handler: (request, reply) => callTool(context, request, reply),
    });
  };
}

async function callTool(context: CallContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  // [TOOL-6] The router has decoded it once.
  const { "*": tool } = request.params as { "*": string };
  // A slash in the name itself is encoded.
  const [path = ""] = request.url.split("?", 1);
  if (path.split("/").length !== TOOLS_PATH.split("/").length) return sendResponse(reply, NOT_FOUND);
  const call = await verifyCall(context, request, tool);
  if (!call) return sendResponse(reply, UNAUTHENTICATED);
  setLimitHeaders(reply, call.verdict, call.arrivedAtMs);
  const refusal = refusalOf(call, context.now());
  using slot = refusal ? undefined : await takeSlot(context.slots.calls, call.verdict.workspaceId, reply.raw);
  const response = slot ? await runRequest(context, call, request) : (refusal ?? SERVER_BUSY);
  if (response === UNAUTHENTICATED) dropLimitHeaders(reply);
  await logCall(context, call, response.status);
  return sendResponse(reply, response);
}

/** Reads the body only now, after the key, the limit and the lock have been checked. */
async function runRequest(context: CallContext, call: VerifiedCall, request: FastifyRequest): Promise<ApiResponse> {
  const { bytes, fault } = await readBytes(request.raw, MAX_CALL_BYTES);
  const refusal = await renew(context, call, request).catch((error: unknown) => {
    context.log.error({ err: error, keyId: call.verdict.keyId }, "key not verified again");
    return INTERNAL_ERROR;
  });
  if (refusal) return refusal;
  const violation = fault && { field: "", rule: "body", message: BODY_FAULTS[fault] };
  return runVerified(context, call, request, { body: bytes, violation });
}

/**
 * Verifies the key again, without counting, when the body took so long that the grant may expire on its way. Returns the
 * response to a call that is refused now.
 */
async function renew(
  context: CallContext,
  call: VerifiedCall,
  { headers }: FastifyRequest,
): Promise<ApiResponse | undefined> {
  const { tool, clientIp, arrivedAtMs } = call;
  if (Math.abs(context.now() - arrivedAtMs) < GRANT_USED_FOR_MS) return undefined;
  const verdict = await verifyKey(context, { headers, ip: clientIp }, { tool, count: false });
  if (!verdict) return UNAUTHENTICATED;
  call.verdict = verdict;
  return verdict.workspaceLocked ? TOOL_UNAVAILABLE : undefined;
}
