import { create } from "@bufbuild/protobuf";
import { createRouterTransport } from "@connectrpc/connect";
import { generateSecret } from "@toolgate/api-key/secret";
import { KeyVerdictSchema, VerifyResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { createLogger } from "@toolgate/service-host/logger";
import { expect, test } from "vitest";
import { createVerifyKey } from "../src/clients/key-auth.ts";
import { createHttpServer } from "../src/http/server.ts";

/** A gateway whose services are away; its key is valid until it is counted. */
async function gateway(validWhenCounted: boolean) {
  const logged: number[] = [];
  const away = createRouterTransport(() => {});
  const log = createLogger({ service: "test", level: "silent" });
  const app = await createHttpServer({
    calls: {
      verifyKey: createVerifyKey(async ({ count }) => {
        const key = create(KeyVerdictSchema, { keyId: "k", admitted: true, limit: 5, remaining: 4, tools: ["echo"] });
        return create(VerifyResponseSchema, count && !validWhenCounted ? {} : { key });
      }),
      runTool: () => Promise.reject(new Error("secret detail")),
      usage: { add: async ({ status }: { status: number }) => void logged.push(status) } as never,
      log,
      now: Date.now,
    },
    peers: { transport: () => away },
    trustedProxies: [],
    publicUrl: "",
    requestTimeoutMs: 30_000,
    log,
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
  const answer = await running.send("tools/call", { name: "echo", arguments: {} });
  expect(answer.statusCode).toBe(401);
  expect(answer.body).toBe('{"success":false,"error":"Ungueltiger oder fehlender API-Key"}');
  expect(answer.headers["www-authenticate"]).toBe("Bearer");
  expect(Object.keys(answer.headers).filter((name) => name.includes("ratelimit"))).toEqual([]);
  expect(running.logged).toEqual([]);
});

test("[ERR-17] [ERR-18] an unexpected error is logged as 500 and says nothing of its cause", async () => {
  await using running = await gateway(true);
  const call = await running.send("tools/call", { name: "echo", arguments: {} });
  expect(call.body).toContain('\\"error\\":\\"Interner Fehler\\"');
  expect(running.logged).toEqual([500]);
  const list = await running.send("tools/list", {});
  expect(list.body).toContain('"message":"Interner Fehler"');
  expect(`${call.body}${list.body}`).not.toMatch(/secret detail|unimplemented/);
});
