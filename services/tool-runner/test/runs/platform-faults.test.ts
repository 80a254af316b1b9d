import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { fromBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { WorkspaceEventSchema } from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { testRedis } from "@toolgate/testbed/servers/servers";
import { expect, test } from "vitest";
import { startToolRunnerRig } from "../tool-runner-rig.ts";

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => ConnectError.from(error).code,
  );

test("[TOOL-21] a deletion whose epoch could not be raised says so, and repeating it raises the epoch", async () => {
  await using redis = await testRedis();
  await using runner = await startToolRunnerRig({ config: { redisUrl: redis.url } });
  await runner.saveTool("gone", { external_api: true, handler: "export default () => ({});" });
  await redis.kill();
  expect(await codeOf(runner.tools.deleteTool({ name: "gone" }))).toBe(Code.Unavailable);
  await redis.restart();
  await eventually(async () => (await codeOf(runner.tools.deleteTool({ name: "gone" }))) === Code.NotFound);
  expect((await runner.call({ tool: "gone" })).outcome.case).toBe("unavailable");
});

test("[ERR-17] [ERR-19] a platform failure in a host call is shown in the log, not to the tool", async () => {
  await using runner = await startToolRunnerRig();
  await runner.saveTool("reader", {
    external_api: true,
    handler: `export default async (_, ctx) => {
      try { await ctx.executePreparedQuery("q", {}); } catch (error) { return { code: error.code, message: error.message }; }
    };`,
  });
  await runner.pool.query("alter table tool_runner.prepared_queries rename to prepared_queries_hidden");
  expect(await runner.resultOf({ tool: "reader" })).toEqual({
    code: "INTERNAL",
    message: "the platform could not do this",
  });
  const { rows } = await eventually(async () => {
    const found = await runner.pool.query("select error from tool_runner.executions where tool = 'reader'");
    return found.rowCount === 1 && found;
  });
  expect(rows[0].error).toContain("prepared_queries");
});

test("[LOG-10] [EVT-8] a run that a platform failure ends is still logged and reported", async () => {
  await using runner = await startToolRunnerRig();
  await runner.saveTool("declared", { external_api: true, webhook_event: true, query: "q" });
  await runner.pool.query("alter table tool_runner.prepared_queries rename to prepared_queries_hidden");
  await expect(runner.call({ tool: "declared" })).rejects.toThrow();
  const { rows } = await eventually(async () => {
    const found = await runner.pool.query("select success, error from tool_runner.executions where tool = 'declared'");
    return found.rowCount === 1 && found;
  });
  expect(rows[0].success).toBe(false);
  expect(rows[0].error).toContain("interrupted by a platform failure");
  const outbox = await runner.pool.query("select event from tool_runner.outbox");
  const [event] = outbox.rows.map((row) => fromBinary(WorkspaceEventSchema, row.event));
  expect(JSON.parse(event?.dataJson ?? "")).toMatchObject({
    success: false,
    error: "interrupted by a platform failure",
    result: {},
  });
});

test("[ERR-18] a platform failure in a host call that the tool does not catch is not a failure of the tool", async () => {
  await using runner = await startToolRunnerRig();
  const calling = (name: string, body: string) =>
    runner.saveTool(name, { external_api: true, handler: `export default async (_, ctx) => { ${body} };` });
  await calling("reader", 'return ctx.executePreparedQuery("q", {});');
  await calling("outer", 'return ctx.callTool("reader", {});');
  await calling("caught", 'return ctx.callTool("reader", {}).catch(() => ({ success: true }));');
  await runner.pool.query("alter table tool_runner.prepared_queries rename to prepared_queries_hidden");
  expect(await codeOf(runner.call({ tool: "reader" }))).toBe(Code.Unknown);
  expect(await codeOf(runner.call({ tool: "outer" }))).toBe(Code.Unknown);
  expect(await runner.resultOf({ tool: "caught" })).toEqual({ success: true });
  const { rows } = await eventually(async () => {
    const found = await runner.pool.query("select success, error from tool_runner.executions where tool = 'outer'");
    return found.rowCount === 1 && found;
  });
  expect(rows[0].success).toBe(false);
});

test("[ERR-18] a run whose sandbox process is killed fails immediately as a platform failure, also under its idempotency key", async () => {
  await using runner = await startToolRunnerRig();
  await runner.saveTool("held", {
    external_api: true,
    timeout_ms: 60_000,
    handler: `export default async (_, ctx) => {
      await ctx.fetch(${JSON.stringify(`${runner.receiver.url}/hold`)}, { method: "POST" });
      return { success: true };
    };`,
  });
  runner.receiver.behave(() => ({ hang: "before-status" }));
  const idempotencyKey = randomUUID();
  const cut = codeOf(runner.call({ tool: "held", idempotencyKey }));
  await runner.receiver.waitFor(1);
  for (const pid of sandboxPids()) process.kill(pid, "SIGKILL");
  expect(await cut).toBe(Code.Unknown);
  expect((await runner.call({ tool: "held", idempotencyKey })).outcome.case).toBe("outcomeUnknown");
  expect(runner.receiver.requests).toHaveLength(1);
});

test("[ERR-18] without a sandbox process the service is not ready", async () => {
  await using runner = await startToolRunnerRig();
  const [replica] = runner.replicas;
  await eventually(async () => (await codeOf(replica?.ready() as Promise<void>)) === undefined);
  for (const pid of sandboxPids()) process.kill(pid, "SIGKILL");
  await eventually(async () => (await codeOf(replica?.ready() as Promise<void>)) !== undefined);
  await eventually(async () => (await codeOf(replica?.ready() as Promise<void>)) === undefined);
});

test("[ERR-9] a response that is nested too deep makes the call fail, not the platform", async () => {
  await using runner = await startToolRunnerRig();
  const deep = "[".repeat(50_000) + "]".repeat(50_000);
  runner.receiver.behave(() => ({ status: 200, headers: { "content-type": "application/json" }, body: deep }));
  await runner.saveTool("deep_api", { external_api: true, api: { method: "GET", url: `${runner.receiver.url}/deep` } });
  await runner.saveTool("deep_fetch", {
    external_api: true,
    handler: `export default async (_, ctx) =>
      ctx.fetch(${JSON.stringify(`${runner.receiver.url}/deep`)}).catch(({ code }) => ({ code }));`,
  });
  expect((await runner.call({ tool: "deep_api" })).outcome.case).toBe("toolFailed");
  expect(await runner.resultOf({ tool: "deep_fetch" })).toEqual({ code: "CALL_FAILED" });
  await runner.dataSource.setDataSource({ url: runner.dataUrl });
  const sql = "select (repeat('[', 2000) || repeat(']', 2000))::json as deep";
  await runner.dataSource.savePreparedQuery({ query: { name: "deep", sql } });
  await runner.saveTool("deep_query", { external_api: true, query: "deep" });
  expect((await runner.call({ tool: "deep_query" })).outcome.case).toBe("toolFailed");
});

test("[RO-2] a nested run ends with the run that called it", async () => {
  await using runner = await startToolRunnerRig();
  const fetching = (path: string) =>
    `ctx.fetch(${JSON.stringify(`${runner.receiver.url}/${path}`)}, { method: "POST" })`;
  runner.receiver.behave(({ path }) => (path === "/hold" ? { hang: "before-status" } : { delayMs: 300 }));
  await runner.saveTool("inner", {
    timeout_ms: 60_000,
    handler: `export default async (_, ctx) => { await ${fetching("hold")}.catch(() => 0); await ${fetching("late")}; };`,
  });
  await runner.saveTool("outer", {
    external_api: true,
    timeout_ms: 60_000,
    handler: `export default async (_, ctx) => {
      ctx.callTool("inner", {}).catch(() => 0);
      await ${fetching("delay")};
      return { success: true };
    };`,
  });
  expect(await runner.resultOf({ tool: "outer" })).toEqual({ success: true });
  const { rows } = await eventually(async () => {
    const found = await runner.pool.query("select error from tool_runner.executions where tool = 'inner'");
    return found.rowCount === 1 && found;
  });
  expect(rows[0].error).toBe("The caller disconnected");
  expect(runner.receiver.requests.map(({ path }) => path)).not.toContain("/late");
});

/** The sandbox processes that this process started. */
function sandboxPids(): number[] {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "ascii");
  const isSandbox = (pid: string) =>
    readFileSync(`/proc/${pid}/cmdline`, "ascii").includes("/sandbox/src/child/main.ts");
  return children.trim().split(" ").filter(isSandbox).map(Number);
}
