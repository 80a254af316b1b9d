import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from "@modelcontextprotocol/client";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

const HANDLER = "export default async (args) => ({ success: true, args });";

let toolgate: RunningToolgate;
let secret: string;
beforeAll(async () => {
  toolgate = await runToolgate("single");
  await toolgate.saveTool("schemas", {
    external_api: true,
    parameters: {
      type: "object",
      properties: { anything: true, nothing: false, rest: { additionalProperties: true } },
    },
    handler: HANDLER,
  });
  await toolgate.saveTool("count", {
    external_api: true,
    external_api_response: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] },
    parameters: { type: "object", properties: { fail: { type: "boolean" }, odd: { type: "boolean" } } },
    handler: `export default async ({ fail, odd }) =>
      fail ? { success: false, error: 'sold out' } : { count: odd ? "many" : 3 };`,
  });
  const key = await toolgate.createKey({ name: "k", tools: ["schemas", "count"], limit: 10_000 });
  secret = key.secret;
});
afterAll(() => toolgate[Symbol.asyncDispose]());

const mcpUrl = () => new URL(`${toolgate.baseUrl}/mcp`);
const bearer = (key: string) => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } });

/** What all generations of the official client have in common here. */
interface AnyClient extends AsyncDisposable {
  /** The version of the protocol that it has agreed on with the server. */
  protocol: string | undefined;
  listTools(): Promise<{ tools: { name: string; inputSchema: object }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<object>;
}

async function connectNew(mode: VersionNegotiationMode, key = secret): Promise<AnyClient> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(mcpUrl(), bearer(key)));
  return {
    protocol: client.getNegotiatedProtocolVersion(),
    listTools: () => client.listTools(),
    callTool: (call) => client.callTool(call),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function connectOlder(key = secret): Promise<AnyClient> {
  const client = new OlderClient({ name: "test", version: "1" });
  const transport = new OlderTransport(mcpUrl(), bearer(key));
  // Its types are not written for exactOptionalPropertyTypes.
  await client.connect(transport as never);
  return {
    protocol: transport.protocolVersion,
    listTools: () => client.listTools(),
    callTool: (call) => client.callTool(call),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const CLIENTS: [name: string, protocol: RegExp, connect: (key?: string) => Promise<AnyClient>][] = [
  ["of 2026", /^2026-/, (key) => connectNew("auto", key)],
  ["of 2026 with the protocol of 2025", /^2025-/, (key) => connectNew("legacy", key)],
  ["of 2025", /^2025-/, (key) => connectOlder(key)],
];

const send = async (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  toolgate.request("/mcp", {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${secret}`, ...headers },
    body: typeof body === "string" ? body : Buffer.from(body),
  });
const callOf = (args: string, tool = "schemas") =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}","arguments":${args}}}`;
const nested = (levels: number) => `{"anything":${"[".repeat(levels)}${"]".repeat(levels)}}`;
/** A key of its own, so that the calls of other tests, which are logged later, do not count. */
async function countingKey() {
  const key = await toolgate.createKey({ name: "counted", tools: ["schemas"], limit: 10_000 });
  const count = async (sql: string) => (await toolgate.pool.query(sql, [key.id])).rows[0]?.n;
  return {
    authorization: `Bearer ${key.secret}`,
    refused: () => count("select count(*)::int as n from key_auth.api_key_requests where key_id = $1 and status = 400"),
    runs: () => count("select count(*)::int as n from tool_runner.executions where caller_id = $1::text"),
  };
}

describe.each(CLIENTS)("the official client %s", (_, protocol, connect) => {
  test("[OAPI-4] [OAPI-6] lists tools with boolean schemas", async () => {
    await using client = await connect();
    expect(client.protocol).toMatch(protocol);
    const { tools } = await client.listTools();
    const byName = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
    expect(byName.schemas?.inputSchema).toMatchObject({
      properties: { anything: {}, nothing: { not: {} }, rest: { additionalProperties: true } },
    });
  });

  test("[OAPI-6] [TOOL-12] accepts every result of a tool with a response schema, and one that says the tool failed as an error", async () => {
    await using client = await connect();
    await client.listTools();
    const counted = await client.callTool({ name: "count", arguments: {} });
    expect(counted).toMatchObject({ structuredContent: { count: 3 } });
    expect(counted).not.toMatchObject({ isError: true });
    const odd = await client.callTool({ name: "count", arguments: { odd: true } });
    expect(odd).toMatchObject({ structuredContent: { count: "many" }, isError: false });
    expect(await client.callTool({ name: "count", arguments: { fail: true } })).toMatchObject({
      isError: true,
      content: [{ type: "text", text: '{"success":false,"error":"sold out"}' }],
    });
    expect(await client.callTool({ name: "count", arguments: { fail: "yes" } })).toMatchObject({
      isError: true,
      content: [{ type: "text", text: expect.stringContaining("Ungueltige Parameter") }],
    });
  });

  test("[ERR-3] tells its user that the key is wrong", async () => {
    await expect(connect("svc_live_wrong")).rejects.toThrow(
      /Ungueltiger oder fehlender API-Key|the server requires authorization \(HTTP 401\)/,
    );
  });
});

test("[ERR-2] [LOG-2] arguments that are nested too deeply get the 400 of a REST call, and are in the log", async () => {
  const { authorization, refused } = await countingKey();
  const depths = [65, 200_000];
  for (const levels of depths) {
    const { text } = await toolgate.request("/api/v1/tools/schemas", {
      method: "POST",
      headers: { authorization },
      body: `{"args":${nested(levels)}}`,
    });
    expect(text).toContain('"rule":"depth"');
    const response = await send(callOf(nested(levels)), { authorization });
    expect(response).toMatchObject({
      status: 200,
      body: { result: { isError: true, content: [{ type: "text", text }] } },
    });
  }
  const { text } = await send(callOf('{"anything":12345678901234567890}'), { authorization });
  expect(text).toContain('\\"rule\\":\\"number\\"');
  await eventually(async () => expect(await refused()).toBe(2 * depths.length + 1));
  expect((await send(callOf(nested(60)))).body).toMatchObject({ result: { structuredContent: { success: true } } });
});

test("[TOOL-1] anything else that is nested too deeply, and invalid UTF-8, are no message; the tool does not run", async () => {
  const { authorization, runs } = await countingKey();
  const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${nested(5_000)}}`;
  expect(await send(deep)).toMatchObject({ status: 400, body: { error: { code: -32_600 } } });
  const [head = "", tail = ""] = callOf('{"anything":"?"}').split("?");
  const invalid = Buffer.concat([Buffer.from(head), Buffer.from([0xff]), Buffer.from(tail)]);
  expect(await send(invalid, { authorization })).toMatchObject({ status: 400, body: { error: { code: -32_700 } } });
  // Its record comes after any that the refused call could have left.
  await send(callOf('{"anything":"valid"}'), { authorization });
  await eventually(async () => expect(await runs()).toBe(1));
});

test.each([undefined, "*/*", "text/event-stream, application/json"])(
  "[TOOL-1] a client that accepts %s gets plain JSON",
  async (accept) => {
    const response = await send(callOf("{}"), { accept: accept ?? "" });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    expect(response.body).toMatchObject({ jsonrpc: "2.0", id: 1, result: { structuredContent: { success: true } } });
  },
);

test("[TOOL-1] a client that accepts no JSON gets 406", async () => {
  expect(await send(callOf("{}"), { accept: "text/html" })).toMatchObject({ status: 406, body: { jsonrpc: "2.0" } });
});
