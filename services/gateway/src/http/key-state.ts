import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { FastifyReply, FastifyRequest } from "fastify";
import { UNAUTHENTICATED } from "../domain/answers.ts";
import { apiKeyOf } from "../domain/bearer.ts";
import { canonicalIp } from "../domain/canonical-ip.ts";
import { sendAnswer, setLimitHeaders } from "./reply.ts";
import type { ToolCallDependencies } from "./tool-call.ts";

/**
 * The key of a request that is no call of a tool: nothing is counted or logged, the answer carries the limit's state.
 * Undefined when the request has been answered.
 */
export async function keyOf(
  deps: ToolCallDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<KeyVerdict | undefined> {
  const apiKey = apiKeyOf(request.headers.authorization);
  const question = { tool: "", count: false, clientIp: canonicalIp(request.ip) };
  const key = apiKey === undefined ? undefined : await deps.verifyKey(apiKey, question);
  if (key) setLimitHeaders(reply, key, deps.now());
  else sendAnswer(reply, UNAUTHENTICATED);
  return key;
}
