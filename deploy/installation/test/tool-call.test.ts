import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { earlyInMinute, type RunningToolgate, runToolgate, type TopologyKind } from "./running-toolgate.ts";

const ECHO = {
  external_api: true,
  parameters: {
    type: "object",
    properties: { text: { type: "string", maxLength: 20 }, count: { type: "integer", minimum: 1 } },
    required: ["text"],
  },
  handler: "export default async (args, ctx) => ({ success: true, args, read_only: ctx.read_only });",
};

interface LoggedCall {
  status: number;
  tool: string;
  ip: string;
  durationMs: number;
}

/** The parts of a response that could reveal the cause of a refusal. */
function shape({ status, headers, text }: { status: number; headers: Headers; text: string }) {
  const varying = new Set(["date", "ratelimit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id"]);
  return { status, text, headers: [...headers].filter(([name]) => !varying.has(name)) };
}

describe.each<TopologyKind>(["single", "split"])("in the %s topology", (kind) => {
  let toolgate: RunningToolgate;
  beforeAll(async () => {
    toolgate = await runToolgate(kind, { replicas: { "key-auth": 2 } });
    await toolgate.saveTool("echo", ECHO);
  });
  afterAll(() => toolgate[Symbol.asyncDispose]());

  /** The usage log of a key, once it has that many calls. */
  const callsOf = (keyId: string, count: number) =>
    eventually(async () => {
      const { calls = [] } = await toolgate.manage<{ calls?: LoggedCall[] }>("key_auth.v1.KeyService/ListKeyCalls", {
        keyId,
      });
      return calls.length === count && (calls as [LoggedCall, ...LoggedCall[]]);
    });

  test("[TOOL-1] [TOOL-5] [TOOL-11] a key runs a released tool and gets its JSON", async () => {
    const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"] });
    const answer = await toolgate.call("echo", secret, { text: "hi", count: 2 });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ success: true, args: { text: "hi", count: 2 }, read_only: true });
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

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

  test("[TOOL-24] arguments that the tool does not declare are dropped", async () => {
    const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"] });
    const { body } = await toolgate.call("echo", secret, { text: "x", other: 1, constructor: 1, toString: 1 });
    expect(Object.keys(body.args as object).sort()).toEqual(["_api_key", "text"]);
  });

  test("[TOOL-41] [TOOL-42] [TOOL-43] the tool gets the key's id, its name and the caller's shortened address", async () => {
    const { id, secret } = await toolgate.createKey({ name: "Partner", tools: ["echo"] });
    const { body } = await toolgate.call("echo", secret, { text: "x" });
    expect(body.args).toEqual({ text: "x", _api_key: { id, name: "Partner", ip: "127.0.0.0" } });
  });

  test("[TOOL-40] [TOOL-44] the server sets _api_key, whatever the caller sends under that name", async () => {
    const { id, secret } = await toolgate.createKey({ name: "Partner", tools: ["echo"] });
    const { body } = await toolgate.call("echo", secret, { text: "x", _api_key: { id: "forged", extra: 1 } });
    expect(body.args).toEqual({ text: "x", _api_key: { id, name: "Partner", ip: "127.0.0.0" } });
  });

  test("[ERR-1] [ERR-2] a call with invalid arguments gets 400 and all violations, without the values sent", async () => {
    const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"] });
    const answer = await toolgate.call("echo", secret, { text: "a secret text that is too long", count: 0 });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ success: false, error: "Ungueltige Parameter" });
    expect(answer.body.details).toHaveLength(2);
    expect(answer.text).not.toContain("a secret text");
  });

  test("[TOOL-26] [TOOL-30] [TOOL-32] a violation names the field and the rule", async () => {
    const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"] });
    const wrong = await toolgate.call("echo", secret, { text: "more than twenty characters", count: 0 });
    expect(wrong.body.details).toMatchObject([
      { field: "text", rule: "maxLength" },
      { field: "count", rule: "minimum" },
    ]);
    const missing = await toolgate.call("echo", secret, {});
    expect(missing.body.details).toMatchObject([{ field: "text", rule: "required" }]);
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

  test("[ERR-9] [ERR-17] [ERR-19] a tool that throws gets the neutral text; the detail is in the execution log", async () => {
    await toolgate.saveTool("broken", {
      external_api: true,
      handler: 'export default () => { throw new Error("db pw 1234"); };',
    });
    const { secret } = await toolgate.createKey({ name: "k", tools: ["broken"] });
    const answer = await toolgate.call("broken", secret);
    expect(answer).toMatchObject({
      status: 400,
      text: '{"success":false,"error":"Tool konnte nicht ausgefuehrt werden"}',
    });
    const logged = await eventually(async () => {
      const found = await toolgate.manage<{ executions?: { error: string }[] }>(
        "tool_runner.v1.ExecutionService/ListExecutions",
        { tool: "broken" },
      );
      return found.executions?.[0] ?? false;
    });
    expect(logged.error).toContain("db pw 1234");
  });

  test("[TOOL-12] a tool that returns success false still gets status 200 with what it returned, also in the log", async () => {
    const handler = 'export default () => ({ success: false, error: "sold out", left: 0 });';
    await toolgate.saveTool("sold_out", { external_api: true, handler });
    const { id, secret } = await toolgate.createKey({ name: "k", tools: ["sold_out"] });
    const answer = await toolgate.call("sold_out", secret);
    expect(answer).toMatchObject({ status: 200, text: '{"success":false,"error":"sold out","left":0}' });
    const [{ status }] = await callsOf(id, 1);
    expect(status).toBe(200);
  });

  test("[LOG-6] the usage log says in milliseconds how long a call took, from its arrival to its response", async () => {
    const waitMs = 300;
    await toolgate.saveTool("waits", {
      external_api: true,
      handler: `export default async (_, ctx) => ({ status: (await ctx.fetch("${toolgate.receiver.url}/slow")).status });`,
    });
    toolgate.receiver.behave(() => ({ delayMs: waitMs }));
    const { id, secret } = await toolgate.createKey({ name: "k", tools: ["waits"] });
    const begun = performance.now();
    expect(await toolgate.call("waits", secret)).toMatchObject({ status: 200, body: { status: 200 } });
    const tookMs = performance.now() - begun;
    const [{ durationMs }] = await callsOf(id, 1);
    expect(durationMs).toBeGreaterThanOrEqual(waitMs);
    expect(durationMs).toBeLessThanOrEqual(Math.ceil(tookMs));
  });

  describe("after two valid, one invalid, one unavailable and one refused call of a key", () => {
    let id: string;
    beforeAll(async () => {
      const key = await toolgate.createKey({ name: "k", tools: ["echo"], limit: 4 });
      id = key.id;
      await earlyInMinute();
      await toolgate.call("echo", key.secret, { text: "x" });
      await toolgate.call("echo", key.secret, {});
      await toolgate.call("nowhere", key.secret, {});
      await toolgate.call("echo", key.secret, { text: "y" });
      await toolgate.call("echo", key.secret, { text: "z" });
    });

    test("[LOG-2] [LOG-4] [LOG-5] the usage log has each call once, with its tool and status", async () => {
      const usage = await callsOf(id, 5);
      expect(usage.map(({ status, tool }) => [status, tool])).toEqual([
        [429, "echo"],
        [200, "echo"],
        [403, "nowhere"],
        [400, "echo"],
        [200, "echo"],
      ]);
    });

    test("[LOG-3] [LOG-7] the usage log has the calls under their key, with the shortened address", async () => {
      expect((await callsOf(id, 5)).map(({ ip }) => ip)).toEqual(Array(5).fill("127.0.0.0"));
      const { rows } = await toolgate.pool.query(
        "select distinct key_id from key_auth.api_key_requests where key_id = $1",
        [id],
      );
      expect(rows).toEqual([{ key_id: id }]);
    });

    test("[LOG-10] [LOG-11] [LOG-12] the execution log has each run, with its entry type and chat id", async () => {
      const rows = await eventually(async () => {
        const found = await toolgate.pool.query(
          "select entry_type, chat_id, success from tool_runner.executions where caller_id = $1",
          [id],
        );
        return found.rows.length === 2 && found.rows;
      });
      for (const row of rows) {
        expect(row).toMatchObject({ entry_type: "api_key", success: true });
        expect(row.chat_id).toMatch(new RegExp(`^apikey_${id}_\\d{10}_[0-9a-f]{8,}$`));
      }
    });

    test("[KEY-12] the key's total counts all calls except the refused one", async () => {
      await callsOf(id, 5);
      const { key } = await toolgate.manage<{ key: { callsTotal: string } }>("key_auth.v1.KeyService/GetKey", {
        keyId: id,
      });
      expect(key.callsTotal).toBe("4");
    });
  });

  test("[LIMIT-8] [ERR-15] [ERR-16] the call over the limit gets 429 and says when to come again", async () => {
    const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"], limit: 1 });
    await earlyInMinute();
    await toolgate.call("echo", secret, { text: "x" });
    const answer = await toolgate.call("echo", secret, { text: "x" });
    expect(answer.status).toBe(429);
    const seconds = Number(answer.headers.get("retry-after"));
    expect(answer.body).toEqual({ success: false, error: "Aufruflimit erreicht", retry_after: seconds });
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(answer.headers.get("x-ratelimit-remaining")).toBe("0");
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
        const answer = await toolgate.call("echo", secret, { text: "x" });
        expect(answer).toMatchObject({
          status: 401,
          text: '{"success":false,"error":"Ungueltiger oder fehlender API-Key"}',
        });
        expect(answer.headers.get("www-authenticate")).toBe("Bearer");
        expect(answer.headers.get("x-ratelimit-limit")).toBeNull();
      }
    }
  });

  test("[ERR-13] [TOOL-38] [TOOL-39] other methods get 405 and Allow, no CORS header, also on a preflight", async () => {
    const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"], limit: 7 });
    for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const headers = { origin: "https://a.example", "access-control-request-method": "POST" };
      const answer = await toolgate.request("/api/v1/tools/echo", { method, headers });
      expect(answer.status).toBe(405);
      expect(answer.headers.get("allow")).toBe("POST");
      expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
      if (method !== "HEAD") expect(answer.text).toBe('{"success":false,"error":"Methode nicht erlaubt"}');
    }
    const known = await toolgate.request("/api/v1/tools/echo", { headers: { authorization: `Bearer ${secret}` } });
    expect(known.headers.get("x-ratelimit-remaining")).toBe("7");
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
