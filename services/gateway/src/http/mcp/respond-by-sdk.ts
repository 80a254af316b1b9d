import type { McpHttpHandler } from "@modelcontextprotocol/server";
import type { FastifyRequest } from "fastify";
import { MCP_PATH } from "../paths.ts";
import { FORWARDED_ACCEPT, plainJson } from "./mcp-message.ts";
import type { McpResponse } from "./mcp-outcome.ts";
import type { McpExchange } from "./mcp-server.ts";

/** Never requested: the SDK needs some URL. */
const REQUEST_URL = `http://gateway${MCP_PATH}`;
/** Headers for the gateway itself, and those that describe the body, which has already been read. */
const NOT_FORWARDED = new Set(
  "accept authorization connection content-length cookie host transfer-encoding".split(" "),
);

export async function respondBySdk(
  handler: McpHttpHandler,
  exchange: McpExchange,
  message: unknown,
): Promise<McpResponse> {
  const { key, request } = exchange;
  const response = await handler.fetch(
    new Request(REQUEST_URL, { method: "POST", headers: forwardedHeaders(request), body: "{}" }),
    { parsedBody: message, authInfo: { token: "", clientId: key.keyId, scopes: [], extra: { exchange } } },
  );
  const type = response.headers.get("content-type");
  const body = plainJson(Buffer.from(await response.arrayBuffer()), type);
  return { status: response.status, body, hasType: type !== null };
}

function forwardedHeaders(request: FastifyRequest): [string, string][] {
  return Object.entries(request.headers)
    .filter(([name]) => !NOT_FORWARDED.has(name))
    .map(([name, value]): [string, string] => [name, String(value)])
    .concat([["accept", FORWARDED_ACCEPT]]);
}
