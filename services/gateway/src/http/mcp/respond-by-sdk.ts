import type { McpHttpHandler } from "@modelcontextprotocol/server";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ERROR_CODE_HEADER } from "../../domain/error-codes.ts";
import { REPLAYED_HEADER, UNAUTHENTICATED } from "../../domain/responses.ts";
import { dropLimitHeaders, sendResponse, setLimitHeaders } from "../key-api.ts";
import { MCP_PATH } from "../paths.ts";
import { errorCodeIn, FORWARDED_ACCEPT, plainJson } from "./mcp-message.ts";
import type { McpExchange } from "./mcp-server.ts";

/** Never requested: the SDK needs some URL. */
const REQUEST_URL = `http://gateway${MCP_PATH}`;
/** Headers for the gateway itself, and those that describe the body, which has already been read. */
const NOT_FORWARDED = new Set(
  "accept authorization connection content-length cookie host transfer-encoding".split(" "),
);

/** Hands a message to the SDK, which calls the exchange's server, and sends the response. */
export async function respondBySdk(
  handler: McpHttpHandler,
  exchange: McpExchange,
  message: unknown,
): Promise<FastifyReply> {
  const { key, request, reply } = exchange;
  const response = await handler.fetch(
    new Request(REQUEST_URL, { method: "POST", headers: forwardedHeaders(request), body: "{}" }),
    { parsedBody: message, authInfo: { token: "", clientId: key.keyId, scopes: [], extra: { exchange } } },
  );
  const type = response.headers.get("content-type");
  const body = plainJson(Buffer.from(await response.arrayBuffer()), type);
  if (exchange.response === UNAUTHENTICATED) {
    dropLimitHeaders(reply);
    return sendResponse(reply, UNAUTHENTICATED);
  }
  if (exchange.refusal) return sendResponse(reply, exchange.refusal);
  // Only now are the headers known that carry the limit after the call.
  if (exchange.call) setLimitHeaders(reply, exchange.call.verdict, exchange.call.arrivedAtMs);
  // [LIMIT-9] Its other headers belong to its own status, not to the 200 of MCP.
  const replayed = exchange.response?.headers?.[REPLAYED_HEADER];
  if (replayed) reply.header(REPLAYED_HEADER, replayed);
  const code = exchange.response ? exchange.response.code : errorCodeIn(body, response.status);
  if (code) reply.header(ERROR_CODE_HEADER, code);
  if (type !== null) reply.header("content-type", "application/json");
  return reply.code(response.status).send(body);
}

function forwardedHeaders(request: FastifyRequest): [string, string][] {
  return Object.entries(request.headers)
    .filter(([name]) => !NOT_FORWARDED.has(name))
    .map(([name, value]): [string, string] => [name, String(value)])
    .concat([["accept", FORWARDED_ACCEPT]]);
}
