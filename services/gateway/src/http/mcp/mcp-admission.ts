import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Context } from "../../context.ts";
import { apiKeyOf } from "../../domain/request-headers.ts";
import { ORIGIN_REFUSED } from "../../domain/responses.ts";
import { dropLimitHeaders, keyOf, sendResponse } from "../key-api.ts";
import { MAX_BYTES_READ_FIRST, saysAtMost } from "../request-bytes.ts";
import { COSTS, refusalOfTurn } from "../workspace-turns.ts";
import type { McpOrigins } from "./mcp-origins.ts";

declare module "fastify" {
  interface FastifyRequest {
    verifiedKey: KeyVerdict | undefined;
  }
}

/**
 * Whether to read the body before the key is verified. If it is a call, its key is then verified once and not twice.
 */
export function isReadFirst(request: FastifyRequest): boolean {
  const { origin, authorization } = request.headers;
  return saysAtMost(request, MAX_BYTES_READ_FIRST) && origin === undefined && apiKeyOf(authorization) !== undefined;
}

/** Verifies the key without counting, and takes the workspace's turn. Undefined when a refusal has been sent. */
export async function admit(
  context: Context,
  mayCall: McpOrigins,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<KeyVerdict | undefined> {
  const key = await keyOf(context, request, reply);
  if (!key) return undefined;
  if (!(await mayCall(request.headers.origin, key.workspaceId))) {
    dropLimitHeaders(reply);
    sendResponse(reply, ORIGIN_REFUSED);
    return undefined;
  }
  const refusal = await refusalOfTurn(context.turns.calls, key.workspaceId, request, reply, COSTS.mcp);
  if (refusal) sendResponse(reply, refusal);
  else request.verifiedKey = key;
  return request.verifiedKey;
}
