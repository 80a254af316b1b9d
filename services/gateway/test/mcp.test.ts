import { create } from "@bufbuild/protobuf";
import { createRouterTransport } from "@connectrpc/connect";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { VerifyResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { RunResponseSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { generateSecret, hashSecret } from "@toolgate/rules/api-key-secret";
import { expect, test } from "vitest";
import { testServer } from "./test-server.ts";

/** A gateway whose services are down; its key is valid until its call is counted, or longer. */
async function gateway(validWhenCounted: boolean) {
  const logged: number[] = [];
  const app = await testServer({
    calls: {
      verify: async ({ count }) => {
        const key = { keyId: "k", admitted: true, limit: 5, remaining: 4, tools: ["echo"] };
        return create(VerifyResponseSchema, count && !validWhenCounted ? {} : { key });
      },
      run: () => Promise.reject(new Error("secret detail")),
      usage: { add: async ({ status }) => void logged.push(status), async [Symbol.asyncDispose]() {} },
    },
  });
  const send = (method: string, params: Record<string, unknown>) =>
    app.inject({
      method: "POST",
      url: "/mcp",
      headers: { authorization: `Bearer ${generateSecret()}`, accept: "application/json, text/event-stream" },
      payload: { jsonrpc: "2.0", id: 1, method, params },
    });
  return { send, logged, [Symbol.asyncDispose]: () => app.close() };
}

test("[KEY-21] [ERR-3] a key that is revoked while its request is read gets 401 without the limit's headers", async () => {
  await using running = await gateway(false);
  const response = await running.send("tools/call", { name: "echo", arguments: {} });
  expect(response.statusCode).toBe(401);
  expect(response.body).toBe('{"success":false,"error":"Ungueltiger oder fehlender API-Key"}');
  expect(response.headers["www-authenticate"]).toBe("Bearer");
  expect(Object.keys(response.headers).filter((name) => name.includes("ratelimit"))).toEqual([]);
  expect(running.logged).toEqual([]);
});

test("[ERR-17] [ERR-18] an unexpected error is logged as 500 and does not reveal its cause", async () => {
  await using running = await gateway(true);
  const call = await running.send("tools/call", { name: "echo", arguments: {} });
  expect(call.body).toContain('\\"error\\":\\"Interner Fehler\\"');
  expect(running.logged).toEqual([500]);
  const list = await running.send("tools/list", {});
  expect(list.body).toContain('"message":"Interner Fehler"');
  expect(`${call.body}${list.body}`).not.toMatch(/secret detail|unimplemented/);
});

/** A gateway whose chat service allows https://shop.example for the workspace of the key, and others elsewhere. */
async function gatewayWithOrigins() {
  const key = { keyId: "k", workspaceId: "acme", admitted: true, limit: 5, tools: [] };
  let lookups = 0;
  const app = await testServer({
    publicUrl: "https://api.example.com",
    calls: {
      verify: async () => {
        lookups += 1;
        return create(VerifyResponseSchema, { key });
      },
    },
    transports: {
      chat: createRouterTransport((router) =>
        router.service(ChatService, {
          checkOrigin: ({ origin, workspaceId }) => ({
            allowed:
              (origin === "https://shop.example" && workspaceId !== "other") ||
              (origin === "https://elsewhere.example" && workspaceId === ""),
          }),
        }),
      ),
    },
  });
  const send = (origin: string | undefined) =>
    app.inject({
      method: "POST",
      url: "/mcp",
      headers: {
        authorization: `Bearer ${generateSecret()}`,
        accept: "application/json, text/event-stream",
        ...(origin !== undefined && { origin }),
      },
      payload: { jsonrpc: "2.0", id: 1, method: "ping" },
    });
  return { send, lookups: () => lookups, [Symbol.asyncDispose]: () => app.close() };
}

test.each([undefined, "https://api.example.com", "https://shop.example"])(
  "[TOOL-39] MCP serves clients that are no pages, and pages of allowed origins: %s",
  async (origin) => {
    await using running = await gatewayWithOrigins();
    expect((await running.send(origin)).statusCode).toBe(200);
  },
);

test.each(["https://evil.example", "null", "http://127.0.0.1:8080", "", "https://api.example.com.evil.example"])(
  "[TOOL-39] MCP refuses a page of the origin %j before it looks at the key",
  async (origin) => {
    await using running = await gatewayWithOrigins();
    const response = await running.send(origin);
    expect([response.statusCode, response.json().error]).toEqual([403, "Origin nicht erlaubt"]);
    expect(response.headers["access-control-allow-origin"]).toBeUndefined();
    expect(running.lookups()).toBe(0);
  },
);

test("[TOOL-39] MCP refuses a page that only another workspace allows", async () => {
  await using running = await gatewayWithOrigins();
  const response = await running.send("https://elsewhere.example");
  expect(response.statusCode).toBe(403);
  expect(Object.keys(response.headers).filter((name) => name.includes("ratelimit"))).toEqual([]);
});

/** A gateway that notes how keys are verified; only the first key is valid. */
async function gatewayWithNotes() {
  const secret = generateSecret();
  const verified: { tool: string; count: boolean }[] = [];
  const logged: number[] = [];
  const app = await testServer({
    calls: {
      verify: async ({ secretHash, tool, count }) => {
        verified.push({ tool, count });
        const key = { keyId: "k", workspaceId: "acme", admitted: true, limit: 5, remaining: 4 };
        return create(VerifyResponseSchema, hashSecret(secret).equals(secretHash) ? { key } : {});
      },
      run: async () =>
        create(RunResponseSchema, { outcome: { case: "resultJson", value: Buffer.from('{"success":true}') } }),
      usage: { add: async ({ status }) => void logged.push(status), async [Symbol.asyncDispose]() {} },
    },
  });
  const send = (payload: string, key = secret) =>
    app.inject({
      method: "POST",
      url: "/mcp",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      payload,
    });
  return { send, verified, logged, [Symbol.asyncDispose]: () => app.close() };
}

const callWith = (text: string) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "echo", arguments: { text } },
  });

test("[LIMIT-5] [LOG-2] a call counts once and is logged once", async () => {
  await using running = await gatewayWithNotes();
  const response = await running.send(callWith("x"));
  expect([response.statusCode, response.json().result.structuredContent]).toEqual([200, { success: true }]);
  expect(response.headers["x-ratelimit-remaining"]).toBe("4");
  expect(running.verified).toEqual([
    { tool: "", count: false },
    { tool: "echo", count: true },
  ]);
  expect(running.logged).toEqual([200]);
});

test.each([
  ["a call", callWith("x")],
  ["what is no message", "{"],
  ["a list of tools", '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'],
])("[ERR-3] an invalid key gets 401 for %s, without the limit's headers, and nothing is logged", async (_, payload) => {
  await using running = await gatewayWithNotes();
  const response = await running.send(payload, generateSecret());
  expect([response.statusCode, running.logged]).toEqual([401, []]);
  expect(Object.keys(response.headers).filter((name) => name.includes("ratelimit"))).toEqual([]);
});
