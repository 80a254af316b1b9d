import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "./running-toolgate.ts";

const RELEASED = { external_api: true, handler: "export default () => ({ success: true });" };
const MCP = { accept: "application/json, text/event-stream", "content-type": "application/json" };
/** Of key-auth, which are asked in turn. */
const REPLICAS = 2;

let toolgate: RunningToolgate;
beforeAll(async () => {
  toolgate = await runToolgate("split");
  for (const tool of ["open", "unlisted"]) await toolgate.saveTool(tool, RELEASED);
});
afterAll(() => toolgate[Symbol.asyncDispose]());

/** The statuses of every kind of request by key. */
async function statuses(secret: string): Promise<number[]> {
  const authorization = `Bearer ${secret}`;
  const overMcp = (method: string, params: object) =>
    toolgate.request("/mcp", {
      method: "POST",
      headers: { ...MCP, authorization },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
  return [
    (await toolgate.call("open", secret)).status,
    (await toolgate.call("unlisted", secret)).status,
    (await toolgate.request("/api/v1/openapi.json", { headers: { authorization } })).status,
    (await overMcp("tools/list", {})).status,
    (await overMcp("tools/call", { name: "open", arguments: {} })).status,
  ];
}

test("[KEY-21] a revoked key fails on the next request of any kind, on every replica, although its grants are still valid", async () => {
  const { id, secret } = await toolgate.createKey({ name: "k", tools: ["open"], limit: 10_000 });
  for (let replica = 0; replica < REPLICAS; replica += 1)
    expect(await statuses(secret)).toEqual([200, 403, 200, 200, 200]);
  await toolgate.manage("key_auth.v1.KeyService/RevokeKey", { keyId: id });
  for (let replica = 0; replica < REPLICAS; replica += 1)
    expect(await statuses(secret)).toEqual([401, 401, 401, 401, 401]);
  const refused = await toolgate.call("open", secret);
  expect(refused.text).toBe('{"success":false,"error":"Ungueltiger oder fehlender API-Key"}');
  expect(refused.headers.get("www-authenticate")).toBe("Bearer");
  expect(refused.headers.get("x-ratelimit-limit")).toBeNull();
});
