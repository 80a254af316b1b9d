import { createMcpHandler } from "@modelcontextprotocol/server";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Context } from "../../context.ts";
import { apiKeyOf } from "../../domain/request-headers.ts";
import { INTERNAL_ERROR, ORIGIN_REFUSED, TOOL_UNAVAILABLE, UNAUTHENTICATED } from "../../domain/responses.ts";
import { dropLimitHeaders, refuseStranger, sendResponse, setLimitHeaders } from "../key-api.ts";
import { MCP_PATH } from "../paths.ts";
import { waitToRefuse } from "../slow-refusals.ts";
import { MAX_BODY_BYTES } from "../tools/request-body.ts";
import { renewed } from "../tools/tool-call.ts";
import { logCall } from "../tools/usage-record.ts";
import { arrivalOf, isRefused, verifyCall } from "../tools/verified-call.ts";
import { COSTS, refusalOfTurn } from "../workspace-turns.ts";
import { admit, isReadFirst } from "./mcp-admission.ts";
import { acceptsJson, isToolCall, NOT_ACCEPTABLE, readMessage } from "./mcp-message.ts";
import type { McpOrigins } from "./mcp-origins.ts";
import { type McpResponse, sendOutcome } from "./mcp-outcome.ts";
import { callOfferedTool, INTERNAL_MESSAGE, type McpExchange, mcpServer, offeredTools, SERVER } from "./mcp-server.ts";
import { type PlainCall, plainCallOf, responseToPlainCall } from "./plain-call.ts";
import { failureOfPlainList, type PlainList, plainListOf, responseToPlainList } from "./plain-list.ts";
import { respondBySdk } from "./respond-by-sdk.ts";

const ANY_WORKSPACE = "";

/**
 * The tools of a key for MCP clients: streamable HTTP without sessions. A tools/call is handled like
 * POST /api/v1/tools/{tool}, counted and logged; other messages are not counted. Pages of foreign origins get a 403.
 */
export function mcpRoutes(context: Context, mayCall: McpOrigins) {
  return async (app: FastifyInstance): Promise<void> => {
    const handler = createMcpHandler(({ authInfo }) => mcpServer(context, authInfo?.extra?.exchange as McpExchange), {
      maxRequestBodySize: MAX_BODY_BYTES,
      maxSubscriptions: 0,
      keepAliveMs: 0,
      onerror: (error) => context.log.debug({ err: error }, "mcp request rejected"),
    });
    app.addHook("onClose", () => handler.close());
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: MAX_BODY_BYTES }, (_, body, done) =>
      done(null, body),
    );
    app.decorateRequest("verifiedKey", undefined);
    app.post(MCP_PATH, {
      async onRequest(request, reply) {
        reply.header("cache-control", "no-store");
        const { origin } = request.headers;
        // Refused before the key is looked up, so that a foreign page learns nothing about keys.
        if (!(await mayCall(origin, ANY_WORKSPACE))) return sendResponse(reply, ORIGIN_REFUSED);
        return isReadFirst(request) || (await admit(context, mayCall, request, reply)) ? undefined : reply;
      },
      async handler(request, reply) {
        const read = readMessage(request.body as Buffer | undefined);
        const { message, fault } = read;
        const plain = fault ? undefined : plainCallOf(message, request.headers);
        if (plain && !request.verifiedKey && acceptsJson(request.headers.accept))
          return callOnce(context, plain, request, reply);
        const key = request.verifiedKey ?? (await admit(context, mayCall, request, reply));
        if (!key) return reply;
        if (!acceptsJson(request.headers.accept)) return sendResponse(reply, NOT_ACCEPTABLE);
        if (read.refusal) return sendResponse(reply, read.refusal);
        // A tools/call is counted and logged before the lock rejects it.
        if (key.workspaceLocked && !isToolCall(message)) return sendResponse(reply, TOOL_UNAVAILABLE);
        const exchange: McpExchange = { key, request, reply, fault };
        const list = plainListOf(message, request.headers);
        if (list) return sendOutcome(reply, exchange, await listTools(context, exchange, list));
        return sendOutcome(
          reply,
          exchange,
          plain ? await respond(context, exchange, plain) : await respondBySdk(handler, exchange, message),
        );
      },
    });
  };
}

/** A call whose key has not been verified: as over REST, it is counted and logged whatever becomes of it. */
async function callOnce(
  context: Context,
  plain: PlainCall,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const arrival = arrivalOf(context, request);
  const secret = apiKeyOf(request.headers.authorization);
  if (secret === undefined) return refuseStranger(context, arrival.clientIp, reply);
  using begun = await context.batches.begin(request.socket);
  const call = await verifyCall(context, { secret, tool: plain.tool, ...arrival });
  if (!call) return refuseStranger(context, arrival.clientIp, reply);
  setLimitHeaders(reply, call.verdict, call.arrivedAtMs);
  const { workspaceId } = call.verdict;
  if (isRefused(call)) {
    begun[Symbol.dispose]();
    await waitToRefuse(context.turns.refusals, workspaceId, reply);
  } else {
    begun.hasValidKey = true;
    const refusal = await refusalOfTurn(context.turns.calls, workspaceId, request, reply, COSTS.mcp);
    if (refusal) {
      await logCall(context, call, refusal.status);
      return sendResponse(reply, refusal);
    }
  }
  const verdict = await renewed(context, call, request).catch(async (error: unknown) => {
    await logCall(context, call, INTERNAL_ERROR.status);
    throw error;
  });
  if (!verdict) {
    dropLimitHeaders(reply);
    await logCall(context, call, UNAUTHENTICATED.status);
    return sendResponse(reply, UNAUTHENTICATED);
  }
  const exchange: McpExchange = { key: undefined, request, reply, call: { ...call, verdict } };
  return sendOutcome(reply, exchange, await respond(context, exchange, plain));
}

async function listTools(context: Context, exchange: McpExchange, list: PlainList): Promise<McpResponse> {
  const tools = await offeredTools(context, exchange);
  const body = tools ? responseToPlainList(list, tools, SERVER) : failureOfPlainList(list, INTERNAL_MESSAGE);
  return { status: 200, body, hasType: true };
}

async function respond(context: Context, exchange: McpExchange, call: PlainCall): Promise<McpResponse> {
  const result = await callOfferedTool(context, exchange, call.tool, call.args);
  return { status: 200, body: responseToPlainCall(call, result, SERVER), hasType: true };
}
