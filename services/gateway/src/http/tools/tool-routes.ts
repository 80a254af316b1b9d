import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { CallContext } from "../../context.ts";
import { apiKeyOf, IDEMPOTENCY_KEY_HEADER, readIdempotencyKey } from "../../domain/request-headers.ts";
import { type ApiResponse, UNAUTHENTICATED } from "../../domain/responses.ts";
import { sendResponse, setLimitHeaders } from "../key-api.ts";
import { TOOLS_PATH } from "../paths.ts";
import { readBody } from "./request-body.ts";
import { logCall, refusalOf, runVerified, type VerifiedCall, verifyCall } from "./tool-call.ts";

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
  const apiKey = apiKeyOf(request.headers.authorization);
  // [TOOL-6] The router has decoded it once.
  const { "*": tool } = request.params as { "*": string };
  const call = await verifyCall(context, { apiKey, tool, clientIp: request.ip });
  if (!call) return sendResponse(reply, UNAUTHENTICATED);
  setLimitHeaders(reply, call.key, call.arrivedAtMs);
  const response = refusalOf(call) ?? (await runRequest(context, call, request));
  await logCall(context, call, response.status);
  return sendResponse(reply, response);
}

/** Reads the body only now, after the key, the limit and the lock have been checked. */
async function runRequest(context: CallContext, call: VerifiedCall, request: FastifyRequest): Promise<ApiResponse> {
  const { bytes, violation } = await readBody(request.raw);
  const idempotency = readIdempotencyKey(request.headers[IDEMPOTENCY_KEY_HEADER]);
  return runVerified(context, call, {
    body: bytes,
    bodyFault: violation ?? idempotency.violation,
    idempotencyKey: idempotency.key,
  });
}
