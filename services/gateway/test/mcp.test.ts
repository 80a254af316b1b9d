import { create } from "@bufbuild/protobuf";
import { generateSecret } from "@toolgate/api-key/secret";
import { KeyVerdictSchema, VerifyResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { expect, test } from "vitest";
import { createVerifyKey } from "../src/clients/hot-calls.ts";
import { testServer } from "./test-server.ts";

/** A gateway whose services are down; its key is valid until its call is counted, or longer. */
async function gateway(validWhenCounted: boolean) {
  const logged: number[] = [];
  const app = await testServer({
    calls: {
      verifyKey: createVerifyKey(async ({ count }) => {
        const key = create(KeyVerdictSchema, { keyId: "k", admitted: true, limit: 5, remaining: 4, tools: ["echo"] });
        return create(VerifyResponseSchema, count && !validWhenCounted ? {} : { key });
      }),
      runTool: () => Promise.reject(new Error("secret detail")),
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
