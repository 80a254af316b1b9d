import { randomUUID } from "node:crypto";
import { connectBus } from "@toolgate/event-bus/connect";
import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningToolgate } from "../running-toolgate.ts";
import { runWithEcho } from "./echo.ts";

interface LoggedCall {
  status: number;
  tool: string;
  ip: string;
  durationMs: number;
}

/** The statuses of a call by REST, by REST with an Idempotency-Key, and by MCP, where an error's code is its status. */
async function callInEachWay(toolgate: RunningToolgate, tool: string, secret: string, args = {}): Promise<number[]> {
  const post = (path: string, body: unknown, headers = {}) =>
    toolgate.request(path, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const path = `/api/v1/tools/${tool}`;
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } };
  const [plain, idempotent, mcp] = await Promise.all([
    post(path, { args }),
    post(path, { args }, { "idempotency-key": randomUUID() }),
    post("/mcp", message),
  ]);
  const isError = mcp.headers.get("x-error-code") === "INTERNAL";
  return [plain.status, idempotent.status, isError ? 500 : mcp.status];
}

let toolgate: RunningToolgate;
const lines: string[] = [];
beforeAll(async () => {
  toolgate = await runWithEcho("single", { log: (line) => lines.push(line) });
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

/** The rows of a log's table, once there are that many. */
const rowsOf = (sql: string, keyId: string, count: number) =>
  eventually(async () => {
    const { rows } = await toolgate.pool.query(sql, [keyId]);
    return rows.length === count && rows;
  });
const usageRows = (keyId: string, count: number) =>
  rowsOf("select * from key_auth.api_key_requests where key_id = $1 order by request_id", keyId, count);
const runsOf = (keyId: string, count: number) =>
  rowsOf("select * from tool_runner.executions where caller_id = $1 order by request_id", keyId, count);
const totalOf = async (keyId: string) => {
  const answer = await toolgate.manage<{ key: { callsTotal: string } }>("key_auth.v1.KeyService/GetKey", { keyId });
  return answer.key.callsTotal;
};

test("[TOOL-12] a tool that returns success false still gets status 200 with what it returned, also in the log", async () => {
  const handler = 'export default () => ({ success: false, error: "sold out", left: 0 });';
  await toolgate.saveTool("sold_out", { external_api: true, handler });
  const { id, secret } = await toolgate.createKey({ name: "k", tools: ["sold_out"] });
  const response = await toolgate.call("sold_out", secret);
  expect(response).toMatchObject({ status: 200, text: '{"success":false,"error":"sold out","left":0}' });
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

describe("a call whose tool runs, by REST, by REST with an Idempotency-Key, and by MCP", () => {
  const long = "x".repeat(5_000);

  test("[LOG-2] [LOG-10] [KEY-12] is once in both logs, with the same request id", async () => {
    await toolgate.saveTool("whole", { external_api: true, handler: "export default () => ({ success: true });" });
    const { id, secret } = await toolgate.createKey({ name: "k", tools: ["whole"] });
    expect(await callInEachWay(toolgate, "whole", secret)).toEqual([200, 200, 200]);
    const usage = await usageRows(id, 3);
    const runs = await runsOf(id, 3);
    expect(usage.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(usage.map(({ request_id }) => request_id)).toEqual(runs.map(({ request_id }) => request_id));
    expect(await totalOf(id)).toBe("3");
  });

  test("[LOG-2] [LOG-10] [ERR-18] gets a 500, also in the usage log, when the broker refuses the record of its run", async () => {
    await toolgate.saveTool("refused", {
      external_api: true,
      parameters: { type: "object", properties: { text: { type: "string" } } },
      handler: "export default () => ({ success: true });",
    });
    const { id, secret } = await toolgate.createKey({ name: "k", tools: ["refused"] });
    await using bus = await connectBus({ servers: toolgate.nats.url, name: "test" });
    const { max_msg_size } = (await bus.jsm.streams.info("CALLS")).config;
    await bus.jsm.streams.update("CALLS", { max_msg_size: long.length });
    try {
      expect(await callInEachWay(toolgate, "refused", secret, { text: long })).toEqual([500, 500, 500]);
    } finally {
      await bus.jsm.streams.update("CALLS", { max_msg_size });
    }
    expect((await usageRows(id, 3)).map(({ status }) => status)).toEqual([500, 500, 500]);
    expect(await runsOf(id, 0)).toEqual([]);
    expect(await totalOf(id)).toBe("3");
  });

  test("[LOG-2] [LOG-10] [ERR-18] gets a 500, also in the usage log, when only its event cannot be stored", async () => {
    await toolgate.saveTool("unreported", {
      external_api: true,
      webhook_event: true,
      handler: "export default () => ({ success: true });",
    });
    const { id, secret } = await toolgate.createKey({ name: "k", tools: ["unreported"] });
    await toolgate.pool.query("alter table tool_runner.outbox rename to outbox_hidden");
    try {
      expect(await callInEachWay(toolgate, "unreported", secret)).toEqual([500, 500, 500]);
    } finally {
      await toolgate.pool.query("alter table tool_runner.outbox_hidden rename to outbox");
    }
    expect((await runsOf(id, 3)).map(({ success }) => success)).toEqual([true, true, true]);
    // Each call is logged twice, and the correction may come first.
    await eventually(async () => {
      expect((await usageRows(id, 3)).map(({ status }) => status)).toEqual([500, 500, 500]);
    });
    expect(await totalOf(id)).toBe("3");
  });
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

  test("[LOG-2] [LOG-3] [LOG-4] [LOG-5] [LOG-7] [KEY-12] the usage log has each call once under its key; refused ones are not in the total", async () => {
    const usage = await callsOf(id, 5);
    expect(usage.map(({ status, tool, ip }) => [status, tool, ip])).toEqual([
      [429, "echo", "127.0.0.0"],
      [200, "echo", "127.0.0.0"],
      [403, "nowhere", "127.0.0.0"],
      [400, "echo", "127.0.0.0"],
      [200, "echo", "127.0.0.0"],
    ]);
    expect(await totalOf(id)).toBe("4");
    const { rows } = await toolgate.pool.query(
      "select distinct key_id from key_auth.api_key_requests where key_id = $1",
      [id],
    );
    expect(rows).toEqual([{ key_id: id }]);
  });

  test("[LIMIT-10] [LOG-10] [LOG-11] [LOG-12] the execution log has the two valid calls, with entry type and chat id", async () => {
    for (const row of await runsOf(id, 2)) {
      expect(row).toMatchObject({ entry_type: "api_key", success: true });
      expect(row.chat_id).toMatch(new RegExp(`^apikey_${id}_\\d{10}_[0-9a-f]{8,}$`));
    }
  });
});

test("[ERR-18] [LOG-10] a result that is not JSON is a 500 and in the execution log, and no failure to look after", async () => {
  const handlers = {
    big: "export default () => ({ big: 1n });",
    cycle: "export default () => { const result = {}; result.self = result; return result; };",
    outer: 'export default (_, ctx) => ctx.callTool("big", {});',
  };
  const tools = Object.keys(handlers);
  for (const [name, handler] of Object.entries(handlers))
    await toolgate.saveTool(name, { external_api: true, handler });
  const { id, secret } = await toolgate.createKey({ name: "k", tools });
  const before = lines.length;
  for (const name of tools) {
    const { status, text, headers } = await toolgate.call(name, secret);
    expect([name, status, text]).toEqual([name, 500, '{"success":false,"error":"Interner Fehler"}']);
    expect(headers.get("x-error-code")).toBe("INTERNAL");
  }
  expect((await callsOf(id, 3)).map(({ status }) => status)).toEqual([500, 500, 500]);
  // With the run that `outer` makes.
  for (const { error } of await runsOf(id, 4)) expect(error).toContain("interrupted by a platform failure");
  const dryRun = await toolgate.manage<{ error: string }>("tool_runner.v1.ToolService/DryRun", { tool: "big" });
  expect(dryRun.error).toMatch(/interrupted by a platform failure\n.*BigInt/);
  expect(lines.slice(before).filter((line) => /"level":"?(50|60|error|fatal)\b/.test(line))).toEqual([]);
});
