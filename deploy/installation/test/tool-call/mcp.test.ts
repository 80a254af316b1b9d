import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from "@modelcontextprotocol/client";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

const ECHO = {
  external_api: true,
  external_api_description: "Echoes a text.",
  external_api_response: { type: "object", properties: { args: { type: "object" } }, required: ["args"] },
  parameters: {
    type: "object",
    properties: { text: { type: "string", maxLength: 20 } },
    required: ["text"],
  },
  handler: "export default async (args, ctx) => ({ success: true, args, read_only: ctx.read_only });",
};

let toolgate: RunningToolgate;
beforeAll(async () => {
  toolgate = await runToolgate("single");
  await toolgate.saveTool("echo", ECHO);
  await toolgate.saveTool("unlisted", ECHO);
  await toolgate.saveTool("broken", {
    external_api: true,
    handler: 'export default () => { throw new Error("db pw 1234"); };',
  });
});
afterAll(() => toolgate[Symbol.asyncDispose]());

/** The headers of all responses to the client, newest last. */
async function connect(secret: string, headers: Record<string, string> = {}, mode: VersionNegotiationMode = "auto") {
  const responses: Response[] = [];
  const transport = new StreamableHTTPClientTransport(new URL(`${toolgate.baseUrl}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${secret}`, ...headers } },
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      if (init?.method === "POST") responses.push(response);
      return response;
    },
  });
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return { client, responses, [Symbol.asyncDispose]: () => client.close() };
}

const post = (body: unknown, headers: Record<string, string>, method = "POST") =>
  toolgate.request("/mcp", {
    method,
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    ...(method !== "GET" && method !== "HEAD" && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
const usageOf = (keyId: string, count: number) =>
  eventually(async () => {
    const { calls = [] } = await toolgate.manage<{ calls?: { tool: string; status: number }[] }>(
      "key_auth.v1.KeyService/ListKeyCalls",
      { keyId },
    );
    return calls.length >= count && calls;
  });

test.each<VersionNegotiationMode>(["auto", "legacy"])(
  "[OAPI-3] [TOOL-1] [TOOL-38] the official client (%s) lists the key's tools and calls one, with what a REST call returns",
  async (mode) => {
    const { id, secret } = await toolgate.createKey({ name: "Agent", tools: ["echo"], limit: 100 });
    await using session = await connect(secret, {}, mode);
    expect(session.client.getNegotiatedProtocolVersion()).toMatch(mode === "auto" ? /^2026-/ : /^2025-/);
    const { tools } = await session.client.listTools();
    expect(tools).toMatchObject([
      {
        name: "echo",
        description: "Echoes a text.",
        inputSchema: { type: "object", required: ["text"] },
        annotations: { readOnlyHint: false },
      },
    ]);
    expect(tools.length).toBe(1);
    const result = await session.client.callTool({ name: "echo", arguments: { text: "hi", other: 1 } });
    const expected = {
      success: true,
      args: { text: "hi", _api_key: { id, name: "Agent", ip: "127.0.0.0" } },
      read_only: true,
    };
    const names = session.responses.flatMap(({ headers }) => [...headers.keys()]);
    expect(names.filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(result.isError).toBeFalsy();
    expect(result.structuredContent).toEqual(expected);
    expect(result.content).toEqual([{ type: "text", text: JSON.stringify(expected) }]);
  },
);

test("[LIMIT-3] [LIMIT-5] [LOG-2] a call counts once and is logged once, connecting and listing not at all", async () => {
  const { id, secret } = await toolgate.createKey({ name: "k", tools: ["echo"], limit: 3 });
  await earlyInMinute();
  await using session = await connect(secret);
  await session.client.listTools();
  expect(session.responses.at(-1)?.headers.get("x-ratelimit-remaining")).toBe("3");
  for (const left of ["2", "1", "0"]) {
    await session.client.callTool({ name: "echo", arguments: { text: "x" } });
    expect(session.responses.at(-1)?.headers.get("x-ratelimit-remaining")).toBe(left);
    expect(session.responses.at(-1)?.headers.get("ratelimit")).toMatch(new RegExp(`^"minute";r=${left};t=\\d+$`));
  }
  const over = await session.client.callTool({ name: "echo", arguments: { text: "x" } });
  expect(over).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("Aufruflimit erreicht") }] });
  expect(session.responses.at(-1)?.headers.get("retry-after")).toBeNull();
  expect((await toolgate.call("echo", secret, { text: "x" })).status).toBe(429);
  await session.client.listTools();
  const usage = await usageOf(id, 5);
  expect(usage.map(({ status }) => status)).toEqual([429, 429, 200, 200, 200]);
  const { rows } = await toolgate.pool.query("select entry_type from tool_runner.executions where caller_id = $1", [
    id,
  ]);
  expect(rows).toEqual(Array(3).fill({ entry_type: "api_key" }));
});

test.each<[title: string, status: number, calls: [name: string, args: Record<string, unknown>][]]>([
  [
    "[TOOL-20] [ERR-11] a tool that is not available",
    403,
    [
      ["unlisted", { text: "x" }],
      ["nowhere", { text: "x" }],
      ["__proto__", {}],
    ],
  ],
  [
    "[ERR-1] [ERR-2] a call with invalid arguments",
    400,
    [
      ["echo", { text: 5 }],
      ["echo", {}],
    ],
  ],
  ["[ERR-9] [ERR-17] a tool that throws", 400, [["broken", {}]]],
])("%s gets the text of the REST response, byte for byte", async (_, expected, calls) => {
  const { id, secret } = await toolgate.createKey({ name: "k", tools: ["echo", "broken"] });
  await using session = await connect(secret);
  for (const [name, args] of calls) {
    const rest = await toolgate.call(name, secret, args);
    const result = await session.client.callTool({ name, arguments: args });
    expect(result).toMatchObject({ isError: true, content: [{ type: "text", text: rest.text }] });
    expect(JSON.stringify(result)).not.toContain("db pw");
  }
  const usage = await usageOf(id, 2 * calls.length);
  expect(usage.map(({ status }) => status)).toEqual(Array(2 * calls.length).fill(expected));
});

test("[ERR-3] [ERR-4] [KEY-21] a call without a valid key gets 401; a revoked key stops a connected client", async () => {
  const { id, secret } = await toolgate.createKey({ name: "k", tools: ["echo"] });
  await using session = await connect(secret);
  await toolgate.manage("key_auth.v1.KeyService/RevokeKey", { keyId: id });
  await expect(session.client.callTool({ name: "echo", arguments: { text: "x" } })).rejects.toThrow();
  await expect(session.client.listTools()).rejects.toThrow();
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  for (const headers of [{}, { authorization: `Bearer ${secret}` }, { authorization: "Bearer made-up" }]) {
    const response = await post(list, headers as Record<string, string>);
    expect(response).toMatchObject({
      status: 401,
      text: '{"success":false,"error":"Ungueltiger oder fehlender API-Key"}',
    });
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(response.headers.get("x-ratelimit-limit")).toBeNull();
  }
});

test("[ERR-13] [TOOL-38] [TOOL-39] any method but POST gets 405 and Allow, and no CORS header, also on a preflight", async () => {
  for (const method of ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]) {
    const response = await post("", { origin: "https://a.example", "access-control-request-method": "POST" }, method);
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  }
});

test("[ERR-12] in a locked workspace nothing is listed, and a call is refused, counted and logged as over REST", async () => {
  const { id, secret } = await toolgate.createKey({ name: "k", tools: ["echo"], limit: 5 });
  await using session = await connect(secret);
  const lock = async (locked: boolean) => {
    await toolgate.pool.query("update key_auth.workspaces set locked = $2 where code = $1", [
      toolgate.account.workspace,
      locked,
    ]);
    await toolgate.saveTool("touch", { ...ECHO, external_api: false });
  };
  await lock(true);
  const result = await session.client.callTool({ name: "echo", arguments: { text: "x" } });
  const listed = await post({ jsonrpc: "2.0", id: 1, method: "tools/list" }, { authorization: `Bearer ${secret}` });
  await lock(false);
  const text = '{"success":false,"error":"Tool nicht verfuegbar"}';
  expect(result).toMatchObject({ isError: true, content: [{ text }] });
  expect(listed).toMatchObject({ status: 403, text });
  const usage = await usageOf(id, 1);
  expect(usage.map(({ status, tool }) => [status, tool])).toEqual([[403, "echo"]]);
});

test("a body that is not one message, and a subscription, are refused without being counted", async () => {
  const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"], limit: 7 });
  const headers = { authorization: `Bearer ${secret}` };
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: { text: "x" } } };
  for (const body of ["", "{ no json", "null", [call, call], { ...call, params: { name: 5 } }]) {
    const response = await post(body, headers);
    expect(response.headers.get("x-ratelimit-remaining")).toBe("7");
    expect(response.text).toContain('"error"');
  }
  await using session = await connect(secret);
  await expect(session.client.listen({ toolsListChanged: true })).rejects.toThrow();
  await session.client.listTools();
  expect(session.responses.at(-1)?.headers.get("x-ratelimit-remaining")).toBe("7");
});

test("an Idempotency-Key makes repeating a call safe here too", async () => {
  await toolgate.saveTool("random", {
    external_api: true,
    handler: "export default async () => ({ success: true, value: Math.random() });",
  });
  const { secret } = await toolgate.createKey({ name: "k", tools: ["random"], limit: 100 });
  await using session = await connect(secret, { "idempotency-key": "once" });
  const first = await session.client.callTool({ name: "random" });
  expect(session.responses.at(-1)?.headers.get("idempotency-replayed")).toBeNull();
  const second = await session.client.callTool({ name: "random" });
  expect(second.content).toEqual(first.content);
  expect(session.responses.at(-1)?.headers.get("idempotency-replayed")).toBe("true");
  await using odd = await connect(secret, { "idempotency-key": "not visible" });
  expect(await odd.client.callTool({ name: "random" })).toMatchObject({
    isError: true,
    structuredContent: { error: "Ungueltige Parameter", details: [{ field: "Idempotency-Key" }] },
  });
});

describe("clients of several generations", () => {
  const HANDLER = "export default async (args) => ({ success: true, args });";

  let secret: string;
  beforeAll(async () => {
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

  const mcpUrl = () => new URL(`${toolgate.baseUrl}/mcp`);
  const bearer = (key: string) => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } });

  /** What all generations of the official client have in common here. */
  interface AnyClient extends AsyncDisposable {
    listTools(): Promise<{ tools: { name: string; inputSchema: object }[] }>;
    callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<object>;
  }

  async function connectNew(mode: VersionNegotiationMode, key = secret): Promise<AnyClient> {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(mcpUrl(), bearer(key)));
    return {
      listTools: () => client.listTools(),
      callTool: (call) => client.callTool(call),
      [Symbol.asyncDispose]: () => client.close(),
    };
  }

  async function connectOlder(key = secret): Promise<AnyClient> {
    const client = new OlderClient({ name: "test", version: "1" });
    // Its types are not written for exactOptionalPropertyTypes.
    await client.connect(new OlderTransport(mcpUrl(), bearer(key)) as never);
    return {
      listTools: () => client.listTools(),
      callTool: (call) => client.callTool(call),
      [Symbol.asyncDispose]: () => client.close(),
    };
  }

  const CLIENTS: [name: string, connect: (key?: string) => Promise<AnyClient>][] = [
    ["of 2026", (key) => connectNew("auto", key)],
    ["of 2026 with the protocol of 2025", (key) => connectNew("legacy", key)],
    ["of 2025", (key) => connectOlder(key)],
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
      refused: () =>
        count("select count(*)::int as n from key_auth.api_key_requests where key_id = $1 and status = 400"),
      runs: () => count("select count(*)::int as n from tool_runner.executions where caller_id = $1::text"),
    };
  }

  describe.each(CLIENTS)("the official client %s", (_, connect) => {
    test("[OAPI-4] [OAPI-6] lists tools with boolean schemas", async () => {
      await using client = await connect();
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
    const depths = [65, 5_000, 200_000];
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

  test.each([undefined, "*/*", "application/json", "application/*;q=0.9", "text/event-stream, application/json"])(
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
});
