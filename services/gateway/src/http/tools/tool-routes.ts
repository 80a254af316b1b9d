import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { CallContext } from "../../context.ts";
import { apiKeyOf, IDEMPOTENCY_KEY_HEADER, readIdempotencyKey } from "../../domain/request-headers.ts";
import { UNAUTHENTICATED } from "../../domain/responses.ts";
import { onlyMethod, sendResponse, setLimitHeaders } from "../key-api.ts";
import { TOOLS_PATH } from "../paths.ts";
import { EMPTY_BODY, type RequestBody, readBody } from "./request-body.ts";
import { logCall, refusalOf, runVerified, type VerifiedCall, verifyCall } from "./tool-call.ts";

declare module "fastify" {
  interface FastifyRequest {
    verifiedCall: VerifiedCall | undefined;
  }
}

/** [TOOL-5] POST /api/v1/tools/{tool}. */
export function toolRoutes(context: CallContext) {
  return async (app: FastifyInstance): Promise<void> => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (request: FastifyRequest) => readBody(request.raw));
    app.decorateRequest("verifiedCall", undefined);
    onlyMethod(app, context, {
      method: "POST",
      url: `${TOOLS_PATH}*`,
      async onRequest(request, reply) {
        // [TOOL] The body is read as JSON, whatever its content type says.
        request.headers["content-type"] = undefined;
        request.verifiedCall = await admitCall(context, request, reply);
        return request.verifiedCall ? undefined : reply;
      },
      async handler(request, reply) {
        return request.verifiedCall ? completeCall(context, request.verifiedCall, request, reply) : reply;
      },
    });
  };
}

/** Checks key, limit and lock, before the body is read. Undefined when the call has been answered. */
async function admitCall(
  context: CallContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<VerifiedCall | undefined> {
  const apiKey = apiKeyOf(request.headers.authorization);
  // [TOOL-6] The router has decoded it once.
  const { "*": tool } = request.params as { "*": string };
  const call = await verifyCall(context, { apiKey, tool, clientIp: request.ip });
  if (!call) {
    sendResponse(reply, UNAUTHENTICATED);
    return undefined;
  }
  setLimitHeaders(reply, call.key, call.arrivedAtMs);
  const refusal = refusalOf(call);
  if (!refusal) return call;
  await logCall(context, call, refusal.status);
  sendResponse(reply, refusal);
  return undefined;
}

async function completeCall(
  context: CallContext,
  call: VerifiedCall,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const body = (request.body as RequestBody | undefined) ?? EMPTY_BODY;
  const { key, violation } = readIdempotencyKey(request.headers[IDEMPOTENCY_KEY_HEADER]);
  const response = await runVerified(context, call, {
    body: body.bytes,
    bodyFault: body.violation ?? violation,
    idempotencyKey: key,
  });
  await logCall(context, call, response.status);
  return sendResponse(reply, response);
}
