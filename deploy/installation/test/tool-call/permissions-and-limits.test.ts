import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { earlyInMinute, type RunningToolgate, type TopologyKind } from "../running-toolgate.ts";
import { ECHO, runWithEcho } from "./echo.ts";

/** The parts of a response that could reveal the cause of a refusal. */
function shape({ status, headers, text }: { status: number; headers: Headers; text: string }) {
  const varying = new Set(["date", "ratelimit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id"]);
  return { status, text, headers: [...headers].filter(([name]) => !varying.has(name)) };
}

describe.each<TopologyKind>(["single", "split"])("in the %s topology", (kind) => {
  let toolgate: RunningToolgate;
  beforeAll(async () => {
    toolgate = await runWithEcho(kind);
  });
  afterAll(() => toolgate[Symbol.asyncDispose]());

  test("[LIMIT-4] [LIMIT-5] [LIMIT-6] the response says the limit, what is left of it and when the minute ends", async () => {
    const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"], limit: 100 });
    const { headers } = await toolgate.call("echo", secret, { text: "hi" });
    expect(headers.get("x-ratelimit-limit")).toBe("100");
    expect(headers.get("x-ratelimit-remaining")).toBe("99");
    const reset = Number(headers.get("x-ratelimit-reset"));
    expect(reset % 60).toBe(0);
    expect(reset - Date.now() / 1000).toBeLessThanOrEqual(60);
    expect(headers.get("retry-after")).toBeNull();
  });

  test("[TOOL-20] [ERR-11] [ERR-12] every reason why a tool is not available gets the same refusal, byte for byte", async () => {
    await toolgate.saveTool("hidden", { ...ECHO, external_api: 1 });
    await toolgate.saveTool("public", { ...ECHO, external_api: false, public_api: true });
    await toolgate.saveTool("later", { ...ECHO, async: true });
    await toolgate.saveTool("unlisted", ECHO);
    const { id, secret } = await toolgate.createKey({ name: "k", tools: ["echo"] });
    const listed = "{echo,hidden,public,later,nowhere,a/b}";
    await toolgate.pool.query("update key_auth.keys set tools = $2 where id = $1", [id, listed]);
    await toolgate.manage("key_auth.v1.KeyService/UpdateKey", { keyId: id, name: "k" });
    const refusals = [];
    for (const tool of ["nowhere", "hidden", "public", "later", "unlisted", "a/b", "Echo", "__proto__"]) {
      refusals.push(shape(await toolgate.call(tool, secret, { text: "x" })));
    }
    await toolgate.pool.query("update key_auth.workspaces set locked = true where code = $1", [
      toolgate.account.workspace,
    ]);
    await toolgate.saveTool("hidden", ECHO);
    refusals.push(shape(await toolgate.call("echo", secret, { text: "x" })));
    await toolgate.pool.query("update key_auth.workspaces set locked = false where code = $1", [
      toolgate.account.workspace,
    ]);
    await toolgate.saveTool("hidden", { ...ECHO, external_api: "yes" });
    expect(refusals[0]).toMatchObject({ status: 403, text: '{"success":false,"error":"Tool nicht verfuegbar"}' });
    for (const refusal of refusals) expect(refusal).toEqual(refusals[0]);
    expect((await toolgate.call("echo", secret, { text: "x" })).status).toBe(200);
  });

  test("[TOOL-21] removing the release closes the tool for the next call, setting it again opens it", async () => {
    await toolgate.saveTool("toggled", ECHO);
    const { secret } = await toolgate.createKey({ name: "k", tools: ["toggled"] });
    for (let round = 0; round < 5; round += 1) {
      expect((await toolgate.call("toggled", secret, { text: "x" })).status).toBe(200);
      await toolgate.saveTool("toggled", { ...ECHO, external_api: false });
      expect((await toolgate.call("toggled", secret, { text: "x" })).status).toBe(403);
      await toolgate.saveTool("toggled", ECHO);
    }
  });

  test("[LIMIT-8] [ERR-15] [ERR-16] the call over the limit gets 429 and says when to come again", async () => {
    const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"], limit: 1 });
    await earlyInMinute();
    await toolgate.call("echo", secret, { text: "x" });
    const response = await toolgate.call("echo", secret, { text: "x" });
    expect(response.status).toBe(429);
    const seconds = Number(response.headers.get("retry-after"));
    expect(response.body).toEqual({ success: false, error: "Aufruflimit erreicht", retry_after: seconds });
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(response.headers.get("x-ratelimit-remaining")).toBe("0");
  });

  test("[LIMIT-10] the tool does not run when the limit is reached", async () => {
    await toolgate.saveTool("knocks", {
      external_api: true,
      handler: `export default async (_, ctx) => ({ status: (await ctx.fetch("${toolgate.receiver.url}/knock")).status });`,
    });
    const { secret } = await toolgate.createKey({ name: "k", tools: ["knocks"], limit: 1 });
    await earlyInMinute();
    const statuses = [];
    for (let call = 0; call < 3; call += 1) statuses.push((await toolgate.call("knocks", secret)).status);
    expect(statuses).toEqual([200, 429, 429]);
    expect(toolgate.receiver.requests.filter(({ path }) => path === "/knock")).toHaveLength(1);
  });

  test("[KEY-21] a revoked key fails on the next call, on every replica", async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id, secret } = await toolgate.createKey({ name: "k", tools: ["echo"], limit: 10_000 });
      for (let call = 0; call < 6; call += 1)
        expect((await toolgate.call("echo", secret, { text: "x" })).status).toBe(200);
      await toolgate.manage("key_auth.v1.KeyService/RevokeKey", { keyId: id });
      for (let call = 0; call < 6; call += 1) {
        const response = await toolgate.call("echo", secret, { text: "x" });
        expect(response).toMatchObject({
          status: 401,
          text: '{"success":false,"error":"Ungueltiger oder fehlender API-Key"}',
        });
        expect(response.headers.get("www-authenticate")).toBe("Bearer");
        expect(response.headers.get("x-ratelimit-limit")).toBeNull();
      }
    }
  });

  describe("what a run may write", () => {
    beforeAll(async () => {
      const outer = { external_api: true, handler: 'export default (_, ctx) => ctx.callTool("inner", {});' };
      await toolgate.saveTool("inner", { handler: "export default async (_, ctx) => ({ read_only: ctx.read_only });" });
      await toolgate.saveTool("outer", outer);
      await toolgate.saveTool("outer_write", { ...outer, external_api_write: true });
      const free = 'export default (_, ctx) => ctx.executeQuery("select 1");';
      await toolgate.saveTool("free_sql", { external_api: true, external_api_write: true, handler: free });
    });

    test("[RO-1] [RO-2] a run by key is read-only, and so are the tools that it calls", async () => {
      const { secret } = await toolgate.createKey({ name: "k", tools: ["echo", "outer"] });
      expect((await toolgate.call("echo", secret, { text: "x" })).body).toMatchObject({ read_only: true });
      expect((await toolgate.call("outer", secret)).body).toEqual({ read_only: true });
    });

    test("[RO-7] the write flag lifts that, for the tools it calls as well", async () => {
      const { secret } = await toolgate.createKey({ name: "k", tools: ["outer_write"] });
      expect((await toolgate.call("outer_write", secret)).body).toEqual({ read_only: false });
    });

    test("[RO-4] free SQL is refused even with the write flag", async () => {
      const { secret } = await toolgate.createKey({ name: "k", tools: ["free_sql"] });
      expect((await toolgate.call("free_sql", secret)).status).toBe(400);
    });
  });
});
