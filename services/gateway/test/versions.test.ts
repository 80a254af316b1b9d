import { expect, test } from "vitest";
import { CHAT_PATHS } from "../src/http/paths.ts";
import { testServer } from "./test-server.ts";

test("[VER-3] chats are at paths without a version segment, and only there", async () => {
  await using server = await testServer({});
  for (const [url, method] of Object.entries(CHAT_PATHS)) {
    expect(url).not.toMatch(/\/v\d/);
    expect((await server.inject({ method, url })).statusCode).toBe(401);
    for (const prefix of ["/v1", "/api/v1"]) {
      expect((await server.inject({ method, url: prefix + url })).statusCode).toBe(404);
    }
  }
});

test("[WVER-4] a hook is called below /api/v1/, and nowhere else", async () => {
  const called: string[] = [];
  await using server = await testServer({
    receiveHook: ({ hook }) => {
      called.push(hook);
      return Promise.reject(new Error("called"));
    },
  });
  for (const path of ["/hooks", "/api/hooks", "/v1/hooks", "/api/v2/hooks"]) {
    expect((await server.inject({ method: "POST", url: `${path}/hk_a`, payload: "{}" })).statusCode).toBe(404);
  }
  expect(called).toEqual([]);
  await server.inject({ method: "POST", url: "/api/v1/hooks/hk_a", payload: "{}" });
  expect(called).toEqual(["hk_a"]);
});
