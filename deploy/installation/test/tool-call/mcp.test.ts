import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";
import { ECHO } from "./echo.ts";

const DESCRIBED = {
  ...ECHO,
  external_api_description: "Echoes a text.",
  external_api_response: { type: "object", properties: { args: { type: "object" } }, required: ["args"] },
};

let toolgate: RunningToolgate;
beforeAll(async () => {
  toolgate = await runToolgate("single");
  await toolgate.saveTool("echo", DESCRIBED);
  await toolgate.saveTool("unlisted", ECHO);
  await toolgate.saveTool("broken", {
    external_api: true,
    handler: 'export default () => { throw new Error("db pw 1234"); };',
  });
});
afterAll(() => toolgate[Symbol.asyncDispose]());

/** The headers of all responses to the client, newest last. */
async function connect(secret: string, headers: Record<string, string> = {}) {
  const responses: Response[] = [];
  const transport = new StreamableHTTPClientTransport(new URL(`${toolgate.baseUrl}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${secret}`, ...headers } },
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      if (init?.method === "POST") responses.push(response);
      return response;
    },
  });
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
  return { client, responses, [Symbol.asyncDispose]: () => client.close() };
}

const post = (body: unknown, headers: Record<string, string>) =>
  toolgate.request("/mcp", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const usageOf = (keyId: string, count: number) =>
  eventually(async () => {
    const { calls = [] } = await toolgate.manage<{ calls?: { tool: string; status: number }[] }>(
      "key_auth.v1.KeyService/ListKeyCalls",
      { keyId },
    );
    return calls.length >= count && calls;
  });

test("[OAPI-3] [TOOL-1] [TOOL-38] the official client lists the key's tools and calls one, with what a REST call returns", async () => {
  const { id, secret } = await toolgate.createKey({ name: "Agent", tools: ["echo"], limit: 100 });
  await using session = await connect(secret);
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
});

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
