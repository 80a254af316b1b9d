import { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { FORWARDED_ACCEPT, plainJson } from "./mcp-message.ts";
import { plainCallOf, responseToPlainCall } from "./plain-call.ts";
import { failureOfPlainList, plainListOf, responseToPlainList } from "./plain-list.ts";

const SERVER = { name: "toolgate", version: "1" };
const RESULT = {
  content: [{ type: "text" as const, text: '{"success":true}' }],
  structuredContent: { success: true },
  isError: false,
};
const TOOLS = [
  { name: "echo", description: "ü", inputSchema: { type: "object" as const, properties: { text: {} } } },
  { name: "other", inputSchema: { type: "object" as const }, annotations: { readOnlyHint: true } },
  { name: "third", inputSchema: { type: "object" as const }, outputSchema: { type: "object" as const } },
];
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const JSON_BODY = { "content-type": "application/json" };
const OF_2025 = { ...JSON_BODY, "mcp-protocol-version": "2025-11-25" };
const OF_2026 = {
  ...JSON_BODY,
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "echo",
};

const callOf = (params: object, others: object = {}) => {
  return { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "echo", ...params }, ...others };
};

const LIST_OF_2026 = {
  ...JSON_BODY,
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/list",
};
const listOf = (others: object = {}) => ({ jsonrpc: "2.0", id: 7, method: "tools/list", ...others });

/** The response of the SDK, and the arguments with which it called the tool. */
async function bySdk(message: unknown, headers: Record<string, string>, fails = false) {
  const called: unknown[] = [];
  const handler = createMcpHandler(() => {
    const server = new Server(SERVER, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/call", async ({ params }) => {
      called.push([params.name, params.arguments ?? {}]);
      return RESULT;
    });
    server.setRequestHandler("tools/list", async () => {
      if (fails) throw new ProtocolError(ProtocolErrorCode.InternalError, "failed");
      return { tools: TOOLS };
    });
    return server;
  });
  const request = { method: "POST", headers: { ...headers, accept: FORWARDED_ACCEPT }, body: "{}" };
  const response = await handler.fetch(new Request("http://gateway/mcp", request), { parsedBody: message });
  const body = plainJson(Buffer.from(await response.arrayBuffer()), response.headers.get("content-type"));
  return { status: response.status, body: body.toString(), called };
}

test.each<[string, object, Record<string, string>]>([
  ["of 2025", callOf({ arguments: { text: "a" } }), OF_2025],
  ["of 2025 without arguments", callOf({}), OF_2025],
  ["of 2025 without a version", callOf({ arguments: {} }), JSON_BODY],
  ["of 2025 with a text as id", callOf({ arguments: {} }, { id: 'a"b' }), OF_2025],
  ["of 2026", callOf({ arguments: { text: "a" }, _meta: META }), OF_2026],
  ["of 2026 without arguments", callOf({ _meta: META }), OF_2026],
])("[TOOL-12] a plain call %s gets the response that the SDK would write", async (_, message, headers) => {
  const call = plainCallOf(message, headers);
  if (!call) throw new Error("not taken as a plain call");
  const expected = await bySdk(message, headers);
  expect(expected.called).toEqual([[call.tool, call.args]]);
  expect([200, responseToPlainCall(call, RESULT, SERVER).toString()]).toEqual([expected.status, expected.body]);
});

test.each<[string, unknown, Record<string, string>]>([
  ["another method", { ...callOf({}), method: "tools/list" }, OF_2025],
  ["a notification", { jsonrpc: "2.0", method: "tools/call", params: { name: "echo" } }, OF_2025],
  ["no version of JSON-RPC", { id: 7, method: "tools/call", params: { name: "echo" } }, OF_2025],
  ["a fraction as id", callOf({}, { id: 1.5 }), OF_2025],
  ["an unknown member", callOf({}, { more: 1 }), OF_2025],
  ["an unknown parameter", callOf({ task: {} }), OF_2025],
  ["a number as name", callOf({ name: 5 }), OF_2025],
  ["a list of arguments", callOf({ arguments: [] }), OF_2025],
  ["null as arguments", callOf({ arguments: null }), OF_2025],
  ["metadata of 2025", callOf({ _meta: { progressToken: 1 } }), OF_2025],
  ["an unknown version", callOf({}), { ...JSON_BODY, "mcp-protocol-version": "1999-01-01" }],
  ["two versions", callOf({}), { ...JSON_BODY, "mcp-protocol-version": "2025-11-25, 2025-11-25" }],
  ["text as content", callOf({}), { "content-type": "text/plain" }],
  ["no metadata in 2026", callOf({}), OF_2026],
  ["incomplete metadata of 2026", callOf({ _meta: { ...META, "io.modelcontextprotocol/clientInfo": 1 } }), OF_2026],
  ["headers of 2025 for a message of 2026", callOf({ _meta: META }), OF_2025],
  ["another tool in the headers", callOf({ _meta: META }), { ...OF_2026, "mcp-name": "other" }],
  ["another method in the headers", callOf({ _meta: META }), { ...OF_2026, "mcp-method": "tools/list" }],
  ["a later version", callOf({ _meta: META }), { ...OF_2026, "mcp-protocol-version": "2027-01-01" }],
])("[TOOL-12] the SDK responds to a message with %s", (_, message, headers) => {
  expect(plainCallOf(message, headers)).toBeUndefined();
});

test("[TOOL-12] metadata that is written like valid metadata is still refused by the SDK", () => {
  const callWith = (value: string) => {
    const meta = JSON.stringify({
      ...META,
      "io.modelcontextprotocol/clientCapabilities": { experimental: { a: { b: 1 } } },
    });
    return callOf({ _meta: JSON.parse(meta.replace('"b":1', `"b":${value}`)) });
  };
  expect(plainCallOf(callWith("null"), OF_2026)).toBeDefined();
  expect(plainCallOf(callWith("1e400"), OF_2026)).toBeUndefined();
});

test.each<[string, object, Record<string, string>]>([
  ["of 2025", listOf(), OF_2025],
  ["of 2025 with parameters", listOf({ params: {} }), OF_2025],
  ["of 2025 without a version", listOf({ params: {} }), JSON_BODY],
  ["of 2025 with a text as id", listOf({ id: 'a"b' }), OF_2025],
  ["of 2026", listOf({ params: { _meta: META } }), LIST_OF_2026],
])("[TOOL-12] a plain list %s gets the response that the SDK would write", async (_, message, headers) => {
  const list = plainListOf(message, headers);
  if (!list) throw new Error("not taken as a plain list");
  const expected = await bySdk(message, headers);
  const response = responseToPlainList(list, Buffer.from(JSON.stringify(TOOLS)), SERVER);
  expect([200, response.toString()]).toEqual([expected.status, expected.body]);
  const failed = await bySdk(message, headers, true);
  expect([200, failureOfPlainList(list, "failed").toString()]).toEqual([failed.status, failed.body]);
});

test.each<[string, unknown, Record<string, string>]>([
  ["another method", { ...listOf(), method: "tools/call" }, OF_2025],
  ["a notification", { jsonrpc: "2.0", method: "tools/list" }, OF_2025],
  ["a cursor", listOf({ params: { cursor: "x" } }), OF_2025],
  ["a list of parameters", listOf({ params: [] }), OF_2025],
  ["metadata of 2025", listOf({ params: { _meta: { progressToken: 1 } } }), OF_2025],
  ["no metadata in 2026", listOf(), LIST_OF_2026],
  ["a tool in the headers", listOf({ params: { _meta: META } }), { ...LIST_OF_2026, "mcp-name": "echo" }],
  ["another method in the headers", listOf({ params: { _meta: META } }), { ...OF_2026, "mcp-name": "" }],
])("[TOOL-12] the SDK responds to a list with %s", (_, message, headers) => {
  expect(plainListOf(message, headers)).toBeUndefined();
});
