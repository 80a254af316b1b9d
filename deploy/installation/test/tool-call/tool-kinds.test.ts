import { eventually } from "@toolgate/testbed/eventually";
import { type TestDatabase, testDatabase } from "@toolgate/testbed/servers/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

const EXPOSED = { external_api: true };

let toolgate: RunningToolgate;
let customer: TestDatabase;
let secret: string;

beforeAll(async () => {
  toolgate = await runToolgate("single");
  customer = await testDatabase();
  await toolgate.manage("tool_runner.v1.DataSourceService/SetDataSource", { url: customer.url });
  await toolgate.saveTool("private", { ...EXPOSED, api: { method: "GET", url: "http://169.254.169.254/latest" } });
  await toolgate.saveTool("strict", {
    parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    handler: "export default (args) => args;",
  });
  await toolgate.saveTool("nested", {
    ...EXPOSED,
    parameters: { type: "object", properties: { inner: { type: "object" } } },
    handler: 'export default ({ inner }, ctx) => ctx.callTool("strict", inner);',
  });
  await toolgate.saveTool("endless", {
    ...EXPOSED,
    handler: 'export default (_, ctx) => ctx.callTool("endless", {});',
  });
  await toolgate.saveTool("chatty", {
    ...EXPOSED,
    handler: `export default async (_, ctx) => {
      let sent = 0;
      try { for (; sent < 30; sent += 1) await ctx.emitWebhook("n", { sent }); } catch (error) { return { sent, code: error.code }; }
      return { sent };
    };`,
  });
  const tools = ["private", "nested", "endless", "chatty"];
  ({ secret } = await toolgate.createKey({ name: "k", tools, limit: 10_000 }));
});
afterAll(async () => {
  await toolgate[Symbol.asyncDispose]();
  await customer[Symbol.asyncDispose]();
});

test("[EVT-23] [ERR-19] the database's error is in the execution log, and not in the event", async () => {
  await toolgate.manage("tool_runner.v1.DataSourceService/SavePreparedQuery", {
    query: { name: "none", mode: "QUERY_MODE_READ", sql: "select * from no_such_table" },
  });
  await toolgate.saveTool("reports", { ...EXPOSED, webhook_event: true, query: "none" });
  const key = await toolgate.createKey({ name: "r", tools: ["reports"] });
  await toolgate.createEndpoint(["tool.completed"]);
  const before = toolgate.receiver.requests.length;
  expect((await toolgate.call("reports", key.secret)).status).toBe(400);
  const request = (await toolgate.receiver.waitFor(before + 1))[before];
  const { data } = JSON.parse(request?.body.toString() ?? "");
  expect(data).toMatchObject({
    success: false,
    error: expect.stringContaining("the query failed (SQLSTATE 42P01)"),
    result: {},
  });
  const logged = await eventually(async () => {
    const { rows } = await toolgate.pool.query("select error from tool_runner.executions where id = $1", [
      data.execution_id,
    ]);
    return rows[0] ?? false;
  });
  expect(logged.error).toContain("no_such_table");
});

test("[SSRF-11] a declarative call reaches no private address", async () => {
  expect((await toolgate.call("private", secret)).status).toBe(400);
});

test("[RO-2] [TOOL-24] nested calls are validated like calls from outside, and logged as children", async () => {
  expect((await toolgate.call("nested", secret, { inner: { n: "x" } })).status).toBe(400);
  const { body } = await toolgate.call("nested", secret, { inner: { n: 1, extra: 2 } });
  expect(body).toMatchObject({ n: 1 });
  expect(body).not.toHaveProperty("extra");
  const children = await eventually(async () => {
    const { executions = [] } = await toolgate.manage<{ executions?: { id: string }[] }>(
      "tool_runner.v1.ExecutionService/ListExecutions",
      { tool: "nested" },
    );
    const found = await toolgate.manage<{ children?: { tool: string; parentId: string }[] }>(
      "tool_runner.v1.ExecutionService/GetExecution",
      { executionId: executions[0]?.id },
    );
    return found.children?.length === 1 && found.children;
  });
  expect(children[0]).toMatchObject({ tool: "strict" });
});

test("[TOOL] tools that call themselves endlessly are stopped", async () => {
  expect((await toolgate.call("endless", secret)).status).toBe(400);
});

test("[EVT] a call emits at most 20 custom events", async () => {
  expect((await toolgate.call("chatty", secret)).body).toEqual({ sent: 20, code: "TOO_MANY_EVENTS" });
});

describe("what administrators build", () => {
  const save = (name: string, definition: Record<string, unknown>, confirmExposure?: boolean) =>
    toolgate.manage<{ tool: { version: number } }>("tool_runner.v1.ToolService/SaveTool", {
      name,
      definition: { description: "d", handler: "export default async () => ({ success: true });", ...definition },
      ...(confirmExposure !== undefined && { confirmExposure }),
    });

  test("[EXPO-1] [EXPO-3] [EXPO-4] a flag that newly exposes a tool is refused without confirmation, and nothing else is saved", async () => {
    for (const flag of ["inbound_hook", "inbound_hook_write", "external_api", "external_api_write", "public_api"]) {
      await save(`tool_${flag}`, { description: "before" });
      await expect(save(`tool_${flag}`, { description: "after", [flag]: true })).rejects.toThrow(
        /409.*confirm_exposure/s,
      );
      const { tool } = await toolgate.manage<{ tool: { definition: Record<string, unknown>; version: number } }>(
        "tool_runner.v1.ToolService/GetTool",
        { name: `tool_${flag}` },
      );
      expect(tool).toMatchObject({ version: 1, definition: { description: "before" } });
      expect((await save(`tool_${flag}`, { [flag]: true }, true)).tool.version).toBe(2);
    }
  });

  test("[EXPO] a tool that was deleted and created again counts as newly exposed", async () => {
    await save("again", { external_api: true }, true);
    await toolgate.manage("tool_runner.v1.ToolService/DeleteTool", { name: "again" });
    await expect(save("again", { external_api: true })).rejects.toThrow("409");
  });
});
