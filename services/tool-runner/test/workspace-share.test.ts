import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { eventually } from "@toolgate/testbed/eventually";
import { PROCESS_NEIGHBOURS } from "@toolgate/workspace-share/neighbours";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "./tool-runner-rig.ts";

let runner: ToolRunnerRig;

beforeAll(async () => {
  // Whoever has used the first MiB waits for longer than anybody lives.
  runner = await startToolRunnerRig({ config: { workspaceBytesPerSecond: 1 } });
});
afterAll(() => runner?.[Symbol.asyncDispose]());

const EVENTS = 4;

/** What a run has logged: how far it came before it failed. */
const linesOf = ({ executions }: Pick<ToolRunnerRig, "executions">, { executionId }: { executionId: string }) =>
  eventually(async () => (await executions.getExecution({ executionId })).execution?.logs ?? []);

test("custom events beyond a workspace's share wait, and a call that gets no turn starts nothing and may be repeated", async () => {
  await runner.saveTool("emit", {
    external_api: true,
    timeout_ms: 5_000,
    handler: `const data = { text: "x".repeat(200_000) };
      export default async (_, ctx) => {
        for (let count = 0; count < ${EVENTS}; count += 1) await ctx.emitWebhook("large", data);
        return { success: true };
      };`,
  });
  const { outcome } = await runner.call({ tool: "emit" });
  expect(outcome.case).toBe("toolFailed");
  const { rows } = await runner.pool.query("select count(*)::integer as events from tool_runner.outbox");
  expect(rows[0].events).toBeLessThan(EVENTS);
  const executions = async () => (await runner.executions.listExecutions({})).executions;
  await eventually(async () => expect((await executions()).map(({ error }) => error)).toEqual([expect.any(String)]));

  const refused = runner.call({ tool: "emit", idempotencyKey: "later" });
  await expect(refused).rejects.toMatchObject({ code: Code.ResourceExhausted });
  expect((await executions()).length).toBe(1);
  const claims = await runner.pool.query("select count(*)::integer as calls from tool_runner.idempotent_calls");
  expect(claims.rows[0].calls).toBe(0);
});

test("a read of a sheet that is refused as too large counts, so that it is not repeated for nothing", async () => {
  await using other = await startToolRunnerRig({ config: { workspaceBytesPerSecond: 1 } });
  await other.pool.query(
    "with sheet as (insert into tool_runner.sheets (workspace_id, name) values ($1, 'heavy') returning *)" +
      " insert into tool_runner.sheet_cells select workspace_id, name, n, 1, to_jsonb(repeat('x', 10000)) from sheet, generate_series(1, 1000) n",
    [other.workspaceId],
  );
  const reads = {
    external_api: true,
    handler: `export default async ({ sheet }, ctx) => {
      const refused = await ctx.readSheet(sheet).catch(({ code }) => code);
      ctx.log(refused);
      await ctx.emitWebhook("small", { text: "x".repeat(20_000) });
      return { refused };
    };`,
    parameters: { type: "object", properties: { sheet: { type: "string" } } },
  };
  await other.saveTool("read", reads);
  await other.saveTool("read_soon", { ...reads, timeout_ms: 3_000 });
  expect(await other.resultOf({ tool: "read", args: { sheet: "nowhere" } })).toEqual({ refused: "NO_SUCH_SHEET" });
  const run = await other.call({ tool: "read_soon", args: { sheet: "heavy" } });
  expect(run.outcome.case).toBe("toolFailed");
  expect(await linesOf(other, run)).toEqual(["RESULT_TOO_LARGE"]);
});

test("a response that is refused as too large counts, because it was received", async () => {
  await using other = await startToolRunnerRig({ config: { workspaceBytesPerSecond: 1 } });
  other.receiver.behave(({ path }) => (path === "/large" ? { body: "x".repeat(2 * 1024 * 1024) } : {}));
  const fetches = {
    external_api: true,
    handler: `export default async ({ path }, ctx) => {
      const { code = "OK" } = await ctx.fetch("${other.receiver.url}" + path).catch((error) => error);
      ctx.log(code);
      await ctx.emitWebhook("small", { text: "x".repeat(20_000) });
      return { code };
    };`,
    parameters: { type: "object", properties: { path: { type: "string" } } },
  };
  await other.saveTool("fetch", fetches);
  await other.saveTool("fetch_soon", { ...fetches, timeout_ms: 3_000 });
  expect(await other.resultOf({ tool: "fetch", args: { path: "/" } })).toEqual({ code: "OK" });
  const run = await other.call({ tool: "fetch_soon", args: { path: "/large" } });
  expect(run.outcome.case).toBe("toolFailed");
  expect(await linesOf(other, run)).toEqual(["CALL_FAILED"]);
});

/** A workspace that has used nothing of its share yet, with these prepared queries on its database. */
async function workspaceWith(queries: Record<string, string>): Promise<string> {
  const workspace = randomUUID();
  const { dataSource } = runner.as("admin", workspace);
  await dataSource.setDataSource({ url: runner.dataUrl });
  for (const [name, sql] of Object.entries(queries)) await dataSource.savePreparedQuery({ query: { name, sql } });
  return workspace;
}

const saveToolOf = (workspace: string, name: string, definition: JsonObject) =>
  runner.as("admin", workspace).tools.saveTool({
    name,
    definition: { description: name, external_api: true, ...definition },
    confirmExposure: true,
  });

test("a query that fails counts as much as the database has sent, so that it is not repeated for nothing", async () => {
  const workspace = await workspaceWith({ fail: "select repeat('x', (:count)::int)::int" });
  const fails = {
    handler: `export default async ({ count }, ctx) => {
      const { code } = await ctx.executePreparedQuery("fail", { count }).catch((error) => error);
      ctx.log(code);
      await ctx.emitWebhook("small", { text: "x".repeat(20_000) });
      return { code };
    };`,
    parameters: { type: "object", properties: { count: { type: "integer" } } },
  };
  await saveToolOf(workspace, "fail", fails);
  await saveToolOf(workspace, "fail_soon", { ...fails, timeout_ms: 3_000 });
  expect(await runner.resultOf({ workspace, tool: "fail", args: { count: 10 } })).toEqual({ code: "QUERY_FAILED" });
  const failed = await runner.call({ workspace, tool: "fail_soon", args: { count: 4_000_000 } });
  expect(failed.outcome.case).toBe("toolFailed");
  expect(await linesOf(runner.as("admin", workspace), failed)).toEqual(["QUERY_FAILED"]);
});

const sqlOf = (characters: number) => `select 1 as n ${"-- ".padEnd(characters - 14, "x")}`;

test("a long prepared query counts in full when it is loaded, and little when it runs again", async () => {
  const long = sqlOf(40_000);
  const workspace = await workspaceWith({ first: long, second: long, third: long, fourth: long });
  const repeats = {
    handler: `export default async ({ names, times }, ctx) => {
      for (const name of names) {
        for (let n = 0; n < times; n += 1) await ctx.executePreparedQuery(name);
        ctx.log(name);
      }
      await ctx.emitWebhook("small", { text: "x".repeat(20_000) });
      return { success: true };
    };`,
    parameters: { type: "object", properties: { names: { type: "array" }, times: { type: "integer" } } },
  };
  await saveToolOf(workspace, "repeat", repeats);
  await saveToolOf(workspace, "repeat_soon", { ...repeats, timeout_ms: 3_000 });
  await runner.resultOf({ workspace, tool: "repeat", args: { names: ["first"], times: 10 } });
  const names = ["second", "third", "fourth"];
  const others = await runner.call({ workspace, tool: "repeat_soon", args: { names, times: 1 } });
  expect(others.outcome.case).toBe("toolFailed");
  expect(await linesOf(runner.as("admin", workspace), others)).toEqual(["second", "third"]);
});

test("the text of a long prepared query counts each time", async () => {
  const workspace = await workspaceWith({ long: sqlOf(60_000) });
  await saveToolOf(workspace, "repeat_soon", {
    timeout_ms: 3_000,
    handler: `export default async (_, ctx) => {
      for (let n = 1; n <= 20; n += 1) {
        await ctx.executePreparedQuery("long");
        ctx.log(n);
      }
      return { success: true };
    };`,
  });
  const run = await runner.call({ workspace, tool: "repeat_soon" });
  expect(run.outcome.case).toBe("toolFailed");
  expect((await linesOf(runner.as("admin", workspace), run)).length).toBeGreaterThan(5);
});

/** Runs a plain tool of another workspace again and again, so that it is a neighbour, until it is disposed. */
async function neighbour(): Promise<AsyncDisposable> {
  const workspace = randomUUID();
  await saveToolOf(workspace, "plain", { handler: "export default () => ({});" });
  const ended = new AbortController();
  const callAgain = async () => {
    while (!ended.signal.aborted) {
      const { outcome } = await runner.call({ tool: "plain", workspace });
      expect(outcome.case).toBe("resultJson");
    }
  };
  const calling = callAgain();
  return {
    async [Symbol.asyncDispose]() {
      ended.abort();
      await calling;
    },
  };
}

test.each([
  { what: "events", call: "await ctx.emitWebhook('small', { n })", perRun: 20, share: 32 },
  { what: "calls of tools", call: "await ctx.callTool('nested', {})", perRun: 40, share: 64 },
  {
    what: "requests to servers outside",
    call: "await ctx.fetch('http://127.0.0.1:9/').catch(() => 0)",
    perRun: 10,
    share: 16,
  },
  { what: "reads of variables", call: "await ctx.variable('unknown').catch(() => 0)", perRun: 150, share: 256 },
])(
  "[FAIR] small $what count while other workspaces have runs, and not while a workspace is alone",
  async ({ call, perRun, share }) => {
    const workspace = randomUUID();
    const many = (name: string, timeout_ms: number) =>
      saveToolOf(workspace, name, {
        timeout_ms,
        handler: `export default async (_, ctx) => {
          for (let n = 0; n < ${perRun}; n += 1) ${call};
          return {};
        };`,
      });
    await many("many", 30_000);
    await many("many_soon", 5_000);
    await saveToolOf(workspace, "nested", { handler: "export default () => ({});" });
    const runs = Math.ceil((share + 1) / perRun);
    await eventually(() => !PROCESS_NEIGHBOURS.has(workspace));
    for (let run = 0; run < runs; run += 1) await runner.resultOf({ tool: "many", workspace });
    await using _neighbour = await neighbour();
    const outcomes: string[] = [];
    for (let run = 0; run < runs; run += 1)
      outcomes.push((await runner.call({ tool: "many_soon", workspace })).outcome.case ?? "");
    expect(outcomes).toEqual([...Array.from({ length: runs - 1 }, () => "resultJson"), "toolFailed"]);
  },
);
