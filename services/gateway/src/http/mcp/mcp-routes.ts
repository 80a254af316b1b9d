import { createMcpHandler, type McpHttpHandler } from "@modelcontextprotocol/server";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Context } from "../../context.ts";
import { BAD_REQUEST, ORIGIN_REFUSED, SERVER_BUSY, TOOL_UNAVAILABLE } from "../../domain/responses.ts";
import type { AllowedOrigins } from "../chat/allowed-origins.ts";
import { dropLimitHeaders, keyOf, sendResponse } from "../key-api.ts";
import { MCP_PATH } from "../paths.ts";
import { MAX_CALL_BYTES, readBytes } from "../request-bytes.ts";
import { takeSlot } from "../slots.ts";
import { acceptsJson, isToolCall, NOT_ACCEPTABLE, readMessage } from "./mcp-message.ts";
import { type McpExchange, mcpServer } from "./mcp-server.ts";
import { respondBySdk } from "./respond-by-sdk.ts";

const ANY_WORKSPACE = "";

/**
 * The tools of a key for MCP clients: streamable HTTP without sessions. A tools/call is handled like
 * POST /api/v1/tools/{tool}, counted and logged; other messages are not counted. Pages of foreign origins get a 403.
 */
export function mcpRoutes(context: Context, allowed: AllowedOrigins) {
  return async (app: FastifyInstance): Promise<void> => {
    const handler = createMcpHandler(({ authInfo }) => mcpServer(context, authInfo?.extra?.exchange as McpExchange), {
      maxRequestBodySize: MAX_CALL_BYTES,
      maxSubscriptions: 0,
      keepAliveMs: 0,
      onerror: (error) => context.log.debug({ err: error }, "mcp request rejected"),
    });
    app.addHook("onClose", () => handler.close());
    app.post(MCP_PATH, (request, reply) => {
      reply.header("cache-control", "no-store");
      return respond(context, allowed, handler, request, reply);
    });
  };
}

async function respond(
  context: Context,
  allowed: AllowedOrigins,
  handler: McpHttpHandler,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const key = await keyOfClient(context, allowed, request, reply);
  if (!key) return reply;
  using slot = await takeSlot(context.slots.calls, key.workspaceId, reply.raw);
  if (!slot) return sendResponse(reply, SERVER_BUSY);
  const body = await readBytes(request.raw, MAX_CALL_BYTES);
  if (body.fault) return sendResponse(reply, BAD_REQUEST);
  const { message, fault, refusal } = readMessage(body.bytes);
  if (!acceptsJson(request.headers.accept)) return sendResponse(reply, NOT_ACCEPTABLE);
  if (refusal) return sendResponse(reply, refusal);
  // A tools/call is counted and logged before the lock rejects it.
  if (key.workspaceLocked && !isToolCall(message)) return sendResponse(reply, TOOL_UNAVAILABLE);
  const exchange: McpExchange = { key, request, reply, fault };
  return respondBySdk(handler, exchange, message);
}

/**
 * Verifies the key without counting. Undefined when a refusal has been sent.
 *
 * [TOOL-39] A page in a browser must not use MCP in the name of whoever visits it: only clients that are no pages (they
 * send no Origin), pages of the gateway's own public address, and those that the workspace allows for chats.
 */
async function keyOfClient(
  context: Context,
  allowed: AllowedOrigins,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<KeyVerdict | undefined> {
  const { origin } = request.headers;
  const own = URL.parse(context.publicUrl)?.origin;
  const mayCall = async (workspaceId: string) => origin === undefined || origin === own || allowed(origin, workspaceId);
  // Refused before the key is looked up, so that a foreign page learns nothing about keys.
  if (!(await mayCall(ANY_WORKSPACE))) {
    sendResponse(reply, ORIGIN_REFUSED);
    return undefined;
  }
  const key = await keyOf(context, request, reply);
  if (!key || (await mayCall(key.workspaceId))) return key;
  dropLimitHeaders(reply);
  sendResponse(reply, ORIGIN_REFUSED);
  return undefined;
}
