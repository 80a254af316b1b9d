import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { METHOD_NOT_ALLOWED } from "../domain/answers.ts";
import { apiKeyOf } from "../domain/bearer.ts";
import { canonicalIp } from "../domain/canonical-ip.ts";
import { sendAnswer, setLimitHeaders } from "./reply.ts";
import { type RequestBody, readBody } from "./request-body.ts";
import { type AdmittedCall, admitCall, completeCall, type ToolCallDependencies } from "./tool-call.ts";

export const TOOLS_PATH = "/api/v1/tools/";

declare module "fastify" {
  interface FastifyRequest {
    admittedCall: AdmittedCall | undefined;
  }
}

/** [TOOL-5] POST /api/v1/tools/{tool}. */
export function toolRoutes(deps: ToolCallDependencies) {
  return async (app: FastifyInstance): Promise<void> => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (request: FastifyRequest) => readBody(request.raw));
    app.decorateRequest("admittedCall", undefined);
    app.post(`${TOOLS_PATH}*`, {
      async onRequest(request, reply) {
        // [TOOL] Whatever its content type says, the body is JSON or an invalid parameter.
        request.headers["content-type"] = undefined;
        request.admittedCall = await admitCall(deps, request, reply);
        return request.admittedCall ? undefined : reply;
      },
      async handler(request, reply) {
        if (!request.admittedCall) return reply;
        return completeCall(deps, request.admittedCall, reply, request.body as RequestBody | undefined);
      },
    });
    app.route({
      method: app.supportedMethods.filter((method) => method !== "POST"),
      url: `${TOOLS_PATH}*`,
      // Decided before the body: no method but POST has one that counts.
      onRequest: (request, reply) => refuseMethod(deps, request, reply, "POST"),
      handler: async (_, reply) => reply,
    });
  };
}

/** [ERR-13] 405 tells nothing about key or tool; a valid key sees its limit, uncounted. */
export async function refuseMethod(
  deps: ToolCallDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  allow: string,
): Promise<FastifyReply> {
  const apiKey = apiKeyOf(request.headers.authorization);
  const key = apiKey === undefined ? undefined : await limitOf(deps, apiKey, request.ip);
  if (key) setLimitHeaders(reply, key, deps.now());
  reply.header("allow", allow);
  return sendAnswer(reply, METHOD_NOT_ALLOWED);
}

/** Undefined also when it cannot be found out: the method is wrong either way. */
async function limitOf(deps: ToolCallDependencies, apiKey: string, clientIp: string): Promise<KeyVerdict | undefined> {
  return deps.verifyKey(apiKey, { tool: "", count: false, clientIp: canonicalIp(clientIp) }).catch((error: unknown) => {
    deps.log.warn({ err: error }, "key not looked up");
    return undefined;
  });
}
