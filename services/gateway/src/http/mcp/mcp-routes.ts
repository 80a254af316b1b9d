import { createMcpHandler, type McpHttpHandler } from "@modelcontextprotocol/server";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Context } from "../../context.ts";
import { ERROR_CODE_HEADER } from "../../domain/error-codes.ts";
import { ORIGIN_REFUSED, REPLAYED_HEADER, TOOL_UNAVAILABLE, UNAUTHENTICATED } from "../../domain/responses.ts";
import { dropLimitHeaders, keyOf, sendResponse, setLimitHeaders } from "../key-api.ts";
import { MCP_PATH } from "../paths.ts";
import { MAX_BODY_BYTES } from "../tools/request-body.ts";
import { refusalOfTurn, WEIGHTS } from "../workspace-turns.ts";
import {
  acceptsJson,
  errorCodeIn,
  FORWARDED_ACCEPT,
  isToolCall,
  NOT_ACCEPTABLE,
  plainJson,
  readMessage,
} from "./mcp-message.ts";
import type { McpOrigins } from "./mcp-origins.ts";
import { type McpExchange, mcpServer } from "./mcp-server.ts";

/** Never requested: the SDK needs some URL. */
const REQUEST_URL = `http://gateway${MCP_PATH}`;
/** Headers for the gateway itself, and those that describe the body, which has already been read. */
const NOT_FORWARDED = new Set(
  "accept authorization connection content-length cookie host transfer-encoding".split(" "),
);
const ANY_WORKSPACE = "";

declare module "fastify" {
  interface FastifyRequest {
    verifiedKey: KeyVerdict | undefined;
  }
}

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
        request.verifiedKey = await keyOf(context, request, reply);
        if (!request.verifiedKey) return reply;
        const { workspaceId } = request.verifiedKey;
        if (!(await mayCall(origin, workspaceId))) {
          dropLimitHeaders(reply);
          return sendResponse(reply, ORIGIN_REFUSED);
        }
        const refusal = await refusalOfTurn(context.turns.calls, workspaceId, request, reply, WEIGHTS.mcp);
        return refusal && sendResponse(reply, refusal);
      },
      async handler(request, reply) {
        return request.verifiedKey ? serve(handler, request.verifiedKey, request, reply) : reply;
      },
    });
  };
}

async function serve(
  handler: McpHttpHandler,
  key: KeyVerdict,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (!acceptsJson(request.headers.accept)) return sendResponse(reply, NOT_ACCEPTABLE);
  const { message, fault, refusal } = readMessage(request.body as Buffer | undefined);
  if (refusal) return sendResponse(reply, refusal);
  // A tools/call is counted and logged before the lock rejects it.
  if (key.workspaceLocked && !isToolCall(message)) return sendResponse(reply, TOOL_UNAVAILABLE);
  const exchange: McpExchange = { key, request, fault };
  const response = await handler.fetch(
    new Request(REQUEST_URL, { method: "POST", headers: forwardedHeaders(request), body: "{}" }),
    { parsedBody: message, authInfo: { token: "", clientId: key.keyId, scopes: [], extra: { exchange } } },
  );
  // Read completely before anything is sent, because the headers carry the limit after the call.
  const body = Buffer.from(await response.arrayBuffer());
  if (exchange.response === UNAUTHENTICATED) {
    dropLimitHeaders(reply);
    return sendResponse(reply, UNAUTHENTICATED);
  }
  if (exchange.call) setLimitHeaders(reply, exchange.call.verdict, exchange.call.arrivedAtMs);
  // [LIMIT-9] Its other headers belong to its own status, not to the 200 of MCP.
  const replayed = exchange.response?.headers?.[REPLAYED_HEADER];
  if (replayed) reply.header(REPLAYED_HEADER, replayed);
  const code = exchange.response ? exchange.response.code : errorCodeIn(body, response.status);
  if (code) reply.header(ERROR_CODE_HEADER, code);
  const type = response.headers.get("content-type");
  if (type) reply.header("content-type", "application/json");
  return reply.code(response.status).send(plainJson(body, type));
}

function forwardedHeaders(request: FastifyRequest): [string, string][] {
  return Object.entries(request.headers)
    .filter(([name]) => !NOT_FORWARDED.has(name))
    .map(([name, value]): [string, string] => [name, String(value)])
    .concat([["accept", FORWARDED_ACCEPT]]);
}
