import { create } from "@bufbuild/protobuf";
import { createRouterTransport } from "@connectrpc/connect";
import { VerifyResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { RunResponseSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { ToolDescriptionSchema, ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { generateSecret } from "@toolgate/rules/api-key-secret";
import { expect, test } from "vitest";
import { testServer } from "./test-server.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const OF_2025 = { "mcp-protocol-version": "2025-11-25" };
const OF_2026 = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo" };

/** A gateway with one tool, which returns `result`; `bodies` has what it was called with. */
async function gateway({ result = '{"success":true}' }) {
  const bodies: string[] = [];
  const toolRunner = createRouterTransport((router) => {
    const tools = [create(ToolDescriptionSchema, { name: "echo" })];
    router.rpc(ToolService.method.describeTools, () => ({ tools }));
  });
  const app = await testServer({
    calls: {
      verify: async () => {
        const key = { keyId: "k", workspaceId: "acme", admitted: true, limit: 5, tools: ["echo"] };
        return create(VerifyResponseSchema, { key });
      },
      run: async ({ body }) => {
        bodies.push(Buffer.from(body).toString());
        return create(RunResponseSchema, { outcome: { case: "resultJson", value: Buffer.from(result) } });
      },
    },
    transports: { "tool-runner": toolRunner },
  });
  const send = (url: string, payload: string, headers: Record<string, string> = {}) =>
    app.inject({
      method: "POST",
      url,
      headers: { authorization: `Bearer ${generateSecret()}`, "content-type": "application/json", ...headers },
      payload,
    });
  return { send, bodies, [Symbol.asyncDispose]: () => app.close() };
}

const callWith = (args: string, more: object = {}) => {
  const params = JSON.stringify({ name: "echo", ...more }).slice(0, -1);
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params},"arguments":${args}}}`;
};
const nested = (levels: number) => `${'{"a":'.repeat(levels)}{}${"}".repeat(levels)}`;

const WAYS: [name: string, more: object, headers: Record<string, string>][] = [
  ["of 2025", {}, OF_2025],
  ["of 2026", { _meta: META }, OF_2026],
];
const DEEP = [5_000, 20_000].flatMap((levels) => WAYS.map((way) => [levels, ...way] as const));

test.each(DEEP)(
  "[TOOL-12] a result that is nested %i levels deep is only text, in a call %s",
  async (levels, _, more, headers) => {
    const result = nested(levels);
    await using running = await gateway({ result });
    const response = await running.send("/mcp", callWith("{}", more), headers);
    expect(response.statusCode).toBe(200);
    expect(response.json().result).toMatchObject({ content: [{ type: "text", text: result }], isError: false });
    expect(response.json().result).not.toHaveProperty("structuredContent");
  },
);

test.each(WAYS)("[TOOL-12] a call %s passes the arguments on as REST does", async (_, more, headers) => {
  await using running = await gateway({});
  const args = '{"text":"a","toString":{"b":[1]}}';
  await running.send("/mcp", callWith(args, more), headers);
  await running.send("/api/v1/tools/echo", `{"args":${args}}`);
  expect(running.bodies).toEqual([`{"args":${args}}`, `{"args":${args}}`]);
});

test.each(WAYS)(
  "[ERR-1] a number that JSON does not keep is no argument, however deep it is, in a call %s",
  async (_, more, headers) => {
    await using running = await gateway({});
    const deep = `${'{"a":'.repeat(63)}12345678901234567890${"}".repeat(63)}`;
    await running.send("/mcp", callWith(deep, more), headers);
    expect(running.bodies).toEqual([""]);
  },
);
