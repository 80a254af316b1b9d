import { create } from "@bufbuild/protobuf";
import { createRouterTransport } from "@connectrpc/connect";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { VerifyResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { generateSecret } from "@toolgate/rules/api-key-secret";
import { expect, test } from "vitest";
import { testServer } from "./test-server.ts";

const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}';
const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

/**
 * A gateway with one key, valid until its call is counted or longer, whose calls fail. The workspace of the key allows pages of
 * https://shop.example, another one those of https://elsewhere.example. tool-runner describes no tools.
 */
async function gateway({ isValidWhenCounted = true } = {}) {
  let lookups = 0;
  const logged: number[] = [];
  const app = await testServer({
    publicUrl: "https://api.example.com",
    calls: {
      verify: async ({ count }) => {
        lookups += 1;
        const key = { keyId: "k", workspaceId: "acme", admitted: true, limit: 5, remaining: 4, tools: ["echo"] };
        return create(VerifyResponseSchema, count && !isValidWhenCounted ? {} : { key });
      },
      run: () => Promise.reject(new Error("secret detail")),
      usage: { add: async ({ status }) => void logged.push(status), async [Symbol.asyncDispose]() {} },
    },
    transports: {
      chat: createRouterTransport((router) =>
        router.service(ChatService, {
          checkOrigin: ({ origin, workspaceId }) => ({
            allowed:
              origin === "https://shop.example" || (origin === "https://elsewhere.example" && workspaceId === ""),
          }),
        }),
      ),
    },
  });
  const send = async (payload: string, origin?: string) => {
    const headers = {
      authorization: `Bearer ${generateSecret()}`,
      "content-type": "application/json",
      ...(origin !== undefined && { origin }),
    };
    const response = await app.inject({ method: "POST", url: "/mcp", headers, payload });
    const limits = Object.keys(response.headers).filter((name) => name.includes("ratelimit"));
    return { response, limits };
  };
  return { send, logged, lookups: () => lookups, [Symbol.asyncDispose]: () => app.close() };
}

test("[KEY-21] [ERR-3] a key that is revoked while its request is read gets 401 without the limit's headers", async () => {
  await using running = await gateway({ isValidWhenCounted: false });
  const { response, limits } = await running.send(CALL);
  expect([response.statusCode, response.headers["www-authenticate"], limits]).toEqual([401, "Bearer", []]);
  expect(response.body).toBe('{"success":false,"error":"Ungueltiger oder fehlender API-Key"}');
  expect(running.logged).toEqual([]);
});

test("[ERR-17] [ERR-18] an unexpected error is logged as 500 and does not reveal its cause", async () => {
  await using running = await gateway();
  const { response: call } = await running.send(CALL);
  expect(call.body).toContain('\\"error\\":\\"Interner Fehler\\"');
  expect(running.logged).toEqual([500]);
  const { response: list } = await running.send(LIST);
  expect(list.body).toContain('"message":"Interner Fehler"');
  expect(`${call.body}${list.body}`).not.toMatch(/secret detail|unimplemented/);
});

test("[ERR] an error over MCP has its code, however long the id is that it repeats", async () => {
  await using running = await gateway();
  const id = "x".repeat(100_000);
  const { response } = await running.send(JSON.stringify({ jsonrpc: "2.0", id, method: "nothing/here" }));
  expect(response.json()).toMatchObject({ id, error: { code: -32_601 } });
  expect(response.headers["x-error-code"]).toBe("METHOD_NOT_FOUND");
});

test.each([undefined, "https://api.example.com", "https://shop.example"])(
  "[TOOL-39] MCP serves clients that are no pages, and pages of allowed origins: %s",
  async (origin) => {
    await using running = await gateway();
    expect((await running.send(PING, origin)).response.statusCode).toBe(200);
  },
);

test.each(["https://evil.example", "null", "", "https://api.example.com.evil.example"])(
  "[TOOL-39] MCP refuses a page of the origin %j before it looks at the key",
  async (origin) => {
    await using running = await gateway();
    const { response } = await running.send(PING, origin);
    expect([response.statusCode, response.json().error]).toEqual([403, "Origin nicht erlaubt"]);
    expect(response.headers["access-control-allow-origin"]).toBeUndefined();
    expect(running.lookups()).toBe(0);
  },
);

test("[TOOL-39] MCP refuses a page that only another workspace allows", async () => {
  await using running = await gateway();
  const { response, limits } = await running.send(PING, "https://elsewhere.example");
  expect([response.statusCode, limits]).toEqual([403, []]);
});
