import { createMcpHandler, type McpHttpHandler } from "@modelcontextprotocol/server";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { TOOL_UNAVAILABLE, UNAUTHENTICATED } from "../domain/answers.ts";
import { apiKeyOf } from "../domain/bearer.ts";
import { readIdempotencyKey } from "../domain/idempotency-key.ts";
import { isJsonObject } from "../domain/json-schema.ts";
import { keyOf } from "./key-state.ts";
import { type McpDependencies, type McpExchange, mcpServer } from "./mcp-server.ts";
import { dropLimitHeaders, sendAnswer, setLimitHeaders } from "./reply.ts";
import { MAX_BODY_BYTES } from "./request-body.ts";
import { refuseMethod } from "./tool-routes.ts";

export const MCP_PATH = "/mcp";

/** Stays inside: the SDK needs some URL. */
const REQUEST_URL = `http://gateway${MCP_PATH}`;
/** Headers that are for the gateway, and those that describe a body which has been read. */
const NOT_PASSED_ON = new Set(["authorization", "cookie", "content-length", "transfer-encoding", "connection", "host"]);
const PARSE_ERROR = { jsonrpc: "2.0", id: null, error: { code: -32_700, message: "Parse error" } };
const NO_BATCHES = { jsonrpc: "2.0", id: null, error: { code: -32_600, message: "One message per request" } };

declare module "fastify" {
  interface FastifyRequest {
    verifiedKey: KeyVerdict | undefined;
  }
}

/**
 * The tools of a key for MCP clients: streamable HTTP without sessions. A call of a tool takes the way of
 * POST /api/v1/tools/{tool}, from the count to the log; everything else counts nothing.
 */
export function mcpRoutes(deps: McpDependencies) {
  return async (app: FastifyInstance): Promise<void> => {
    const handler = createMcpHandler(({ authInfo }) => mcpServer(deps, authInfo?.extra?.exchange as McpExchange), {
      maxRequestBodySize: MAX_BODY_BYTES,
      maxSubscriptions: 0,
      keepAliveMs: 0,
      onerror: (error) => deps.calls.log.debug({ err: error }, "mcp request refused"),
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
        request.verifiedKey = await keyOf(deps.calls, request, reply);
        return request.verifiedKey ? undefined : reply;
      },
      async handler(request, reply) {
        return request.verifiedKey ? serve(handler, request.verifiedKey, request, reply) : reply;
      },
    });
    app.route({
      method: app.supportedMethods.filter((method) => method !== "POST"),
      url: MCP_PATH,
      onRequest: (request, reply) => refuseMethod(deps.calls, request, reply, "POST"),
      handler: async (_, reply) => reply,
    });
  };
}

async function serve(
  handler: McpHttpHandler,
  key: KeyVerdict,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const message = parsed(request.body as Buffer | undefined);
  if (message === undefined) return reply.code(400).send(PARSE_ERROR);
  if (Array.isArray(message)) return reply.code(400).send(NO_BATCHES);
  // A call is counted and logged before it is refused.
  if (key.workspaceLocked && !isToolCall(message)) return sendAnswer(reply, TOOL_UNAVAILABLE);
  const exchange = exchangeOf(request, key);
  const response = await handler.fetch(
    new Request(REQUEST_URL, { method: "POST", headers: passedOn(request), body: "{}" }),
    { parsedBody: message, authInfo: { token: "", clientId: key.keyId, scopes: [], extra: { exchange } } },
  );
  // Whole before it is sent: the state of the limit is in the headers.
  const body = Buffer.from(await response.arrayBuffer());
  if (exchange.answer === UNAUTHENTICATED) {
    dropLimitHeaders(reply);
    return sendAnswer(reply, UNAUTHENTICATED);
  }
  if (exchange.call) setLimitHeaders(reply, exchange.call.key, exchange.call.arrivedAtMs);
  // [LIMIT-9] The answer's other headers belong to its own status.
  const replayed = exchange.answer?.headers?.["idempotency-replayed"];
  if (replayed) reply.header("idempotency-replayed", replayed);
  const type = response.headers.get("content-type");
  if (type) reply.header("content-type", type);
  return reply.code(response.status).send(body);
}

function parsed(body: Buffer | undefined): unknown {
  try {
    return JSON.parse(body?.toString("utf8") ?? "");
  } catch {
    return undefined;
  }
}

function isToolCall(message: unknown): boolean {
  return isJsonObject(message) && message.method === "tools/call";
}

function passedOn(request: FastifyRequest): [string, string][] {
  return Object.entries(request.headers)
    .filter(([name]) => !NOT_PASSED_ON.has(name))
    .map(([name, value]) => [name, String(value)]);
}

function exchangeOf(request: FastifyRequest, key: KeyVerdict): McpExchange {
  const idempotency = readIdempotencyKey(request.headers["idempotency-key"]);
  return {
    key,
    apiKey: apiKeyOf(request.headers.authorization) ?? "",
    clientIp: request.ip,
    idempotencyKey: idempotency.ok ? idempotency.key : "",
    bodyFault: idempotency.ok ? undefined : idempotency.violation,
  };
}
