import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { Success } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "../tool-runner-rig.ts";

describe("the execution log", () => {
  let runner: ToolRunnerRig;
  beforeAll(async () => {
    runner = await startToolRunnerRig();
    const parameters = { type: "object", properties: { n: { type: "integer" }, password: { type: "string" } } };
    await runner.saveTool("quick", { external_api: true, parameters, handler: "export default ({ n }) => ({ n });" });
    await runner.saveTool("broken", {
      external_api: true,
      handler: 'export default () => { throw new Error("what went wrong"); };',
    });
    await runner.saveTool("busy", {
      external_api: true,
      parameters,
      handler: `export default async (args, ctx) => {
        ctx.log("first", { n: args.n, password: args.password, list: [{ apiKey: "in a list" }] });
        console.log("second\\u0000", { password: args.password });
        await ctx.callTool("quick", { n: 1 });
        await ctx.fetch("${runner.receiver.url}/path?token=in-the-query");
        try { await ctx.executePreparedQuery("none") } catch {}
        try { await ctx.writeToSheet("s", "A1", [[1]]) } catch {}
        return { password: "in the result", _hidden: 1, n: args.n };
      };`,
    });
    await runner.saveTool("countless", {
      external_api: true,
      timeout_ms: 60_000,
      handler: `export default async (_, ctx) => {
        const codes = [];
        let made = 0;
        for (let i = 0; i < 202; i += 1) {
          ctx.log("line " + i);
          try { await ctx.callTool("quick", { n: i }); made += 1; } catch (error) { codes.push(error.code); }
        }
        return { made, codes };
      };`,
    });
  });
  afterAll(() => runner[Symbol.asyncDispose]());

  async function loggedRun(id: string) {
    return eventually(async () => {
      const found = await runner.executions.getExecution({ executionId: id }).catch(() => undefined);
      return found ?? false;
    });
  }

  it("[LOG-10] [LOG-11] [LOG-12] the log contains who called what, redacted values, host calls with their durations, and log lines", async () => {
    const { executionId } = await runner.call({
      tool: "busy",
      args: { n: 5, password: "in the arguments" },
      keyId: "42",
    });
    const { execution, children } = await loggedRun(executionId);
    expect(execution).toMatchObject({
      tool: "busy",
      toolVersion: 1,
      entryType: "api_key",
      chatId: expect.stringMatching(/^apikey_42_\d{10}_[0-9a-f]{8,}$/),
      callerId: "42",
      success: true,
      error: expect.not.stringContaining("in the query"),
      readOnly: true,
    });
    expect(JSON.parse(execution?.argsJson ?? "")).toEqual({ n: 5, password: "[entfernt]" });
    expect(JSON.parse(execution?.resultJson ?? "")).toEqual({ n: 5, password: "[entfernt]" });
    expect(execution?.logs).toEqual([
      'first {"n":5,"password":"[entfernt]","list":[{"apiKey":"[entfernt]"}]}',
      'second {"password":"[entfernt]"}',
    ]);
    expect(execution?.hostCalls.map(({ name, target, errorCode }) => [name, target, errorCode])).toEqual([
      ["callTool", "quick", ""],
      ["fetch", `GET ${new URL(runner.receiver.url).host}`, ""],
      ["executePreparedQuery", "none", "NO_SUCH_QUERY"],
      ["writeToSheet", "", "READ_ONLY"],
    ]);
    let previousEndMs = 0;
    for (const { startedAfterMs = -1, durationMs } of execution?.hostCalls ?? []) {
      // Each began when the one before it had ended, to the millisecond of rounding.
      expect(startedAfterMs).toBeGreaterThanOrEqual(previousEndMs - 1);
      previousEndMs = startedAfterMs + durationMs;
    }
    expect(previousEndMs).toBeLessThanOrEqual((execution?.durationMs ?? 0) + 1);
    expect(children.map(({ tool, parentId, chatId }) => [tool, parentId, chatId])).toEqual([
      ["quick", executionId, execution?.chatId],
    ]);
  });

  it("[LOG-10] a run is shown with the whole tree of the runs that it caused, each under the run that called it", async () => {
    await runner.saveTool("middle", {
      external_api: true,
      handler: `export default async (_, ctx) => {
        await ctx.callTool("quick", { n: 1 });
        try { await ctx.callTool("broken", {}) } catch {}
        return {};
      };`,
    });
    await runner.saveTool("outer", {
      external_api: true,
      handler: `export default async (_, ctx) => {
        await ctx.callTool("middle", {});
        await ctx.callTool("middle", {});
        return {};
      };`,
    });
    const { executionId } = await runner.call({ tool: "outer" });
    const { children, hasMoreChildren } = await eventually(async () => {
      const found = await loggedRun(executionId);
      return found.children.length === 6 && found;
    });
    expect(hasMoreChildren).toBe(false);
    const shapes = (parentId: string): unknown[] =>
      children.filter((run) => run.parentId === parentId).map(({ id, tool }) => [tool, ...shapes(id)]);
    expect(shapes(executionId)).toEqual([
      ["middle", ["quick"], ["broken"]],
      ["middle", ["quick"], ["broken"]],
    ]);
    for (const [index, { parentId }] of children.entries()) {
      expect([executionId, ...children.slice(0, index).map(({ id }) => id)]).toContain(parentId);
    }
    const [first] = children;
    const nested = await runner.executions.getExecution({ executionId: first?.id ?? "" });
    expect(nested.children.map(({ tool }) => tool)).toEqual(["quick", "broken"]);
    const foreign = runner.as("admin", crypto.randomUUID()).executions;
    await expect(foreign.getExecution({ executionId })).rejects.toMatchObject({ code: Code.NotFound });
  });

  it("[TOOL-2] [LOG] a run makes 200 host calls and may catch the error of the next; the log has 100, and 100 lines", async () => {
    const { outcome, executionId } = await runner.call({ tool: "countless" });
    expect(outcome).toMatchObject({ case: "resultJson" });
    const result = JSON.parse(Buffer.from(outcome.value as Uint8Array).toString());
    expect(result).toEqual({ made: 200, codes: ["TOO_MANY_HOST_CALLS", "TOO_MANY_HOST_CALLS"] });
    const { execution } = await loggedRun(executionId);
    expect(execution?.success).toBe(true);
    expect([execution?.hostCalls.length, execution?.logs.length]).toEqual([100, 100]);
  });

  it("[ERR-19] the log has the detail of an error, which members do not see", async () => {
    const { executionId, outcome } = await runner.call({ tool: "broken" });
    expect(outcome).toMatchObject({ case: "toolFailed" });
    expect((await loggedRun(executionId)).execution?.error).toContain("what went wrong");
    const member = runner.as("member").executions;
    await expect(member.getExecution({ executionId })).rejects.toMatchObject({ code: Code.PermissionDenied });
    await expect(member.listExecutions({})).rejects.toMatchObject({ code: Code.PermissionDenied });
  });

  it("[LOG] runs are listed by tool, entry type, success, time, caller and chat, alone and together, newest first", async () => {
    const from = Date.now() + 10_000;
    runner.clock.advance(20_000);
    for (const [tool, keyId] of [
      ["quick", "a"],
      ["broken", "a"],
      ["quick", "b"],
      ["broken", "b"],
      ["quick", "a"],
    ] as const) {
      await runner.call({ tool, keyId, args: { n: 1 } });
      runner.clock.advance(1_000);
    }
    await runner.tools.dryRun({ tool: "quick", args: { n: 1 } });
    const startedFrom = timestampFromMs(from);
    const list = async (filter: object) =>
      (await runner.executions.listExecutions({ startedFrom, ...filter })).executions.map(
        ({ tool, callerId, success }) => `${tool} ${callerId.length > 1 ? "user" : callerId} ${success}`,
      );
    const all = ["quick user true", "quick a true", "broken b false", "quick b true", "broken a false", "quick a true"];
    await eventually(async () => expect(await list({})).toEqual(all) ?? true);
    expect(await list({ tool: "broken" })).toEqual(["broken b false", "broken a false"]);
    expect(await list({ callerId: "a" })).toEqual(["quick a true", "broken a false", "quick a true"]);
    expect(await list({ success: Success.FAILURES_ONLY, callerId: "a" })).toEqual(["broken a false"]);
    expect(await list({ success: Success.ONLY, tool: "broken" })).toEqual([]);
    expect(await list({ entryType: "dry_run" })).toEqual(["quick user true"]);
    expect(await list({ entryType: "api_key" })).toEqual(all.slice(1));
    const { executions } = await runner.executions.listExecutions({ callerId: "b", tool: "quick" });
    const [found] = executions;
    expect(await list({ chatId: found?.chatId })).toEqual(["quick b true"]);
    expect(await list({ startedFrom: found?.startedAt })).toEqual(all.slice(0, 4));
    expect(await list({ startedBefore: found?.startedAt })).toEqual(all.slice(4));
    const page = { startedFrom, pageSize: 4 };
    const first = await runner.executions.listExecutions(page);
    const second = await runner.executions.listExecutions({ ...page, pageToken: first.nextPageToken });
    expect([...first.executions, ...second.executions].map(({ tool }) => tool)).toEqual(
      all.map((run) => run.split(" ")[0]),
    );
  });

  it("[LOG] every filter uses an index", async () => {
    const plans: Record<string, string> = {
      "tool = 'quick'": "tool",
      "caller_id = '1'": "caller_id",
      "chat_id = 'x'": "chat_id",
      "not success": "started_at",
      "entry_type = 'dry_run' and entry_type <> 'api_key'": "entry_type",
    };
    const client = await runner.pool.connect();
    using _ = { [Symbol.dispose]: () => client.release(true) };
    await client.query(
      "begin; set local enable_seqscan = off; set local enable_sort = off; set local enable_bitmapscan = off",
    );
    // Enough rows that each filter's own index is the best one, and statistics that do not depend on when they were collected.
    await client.query(
      `insert into tool_runner.executions (id, workspace_id, tool, tool_version, entry_type, chat_id, caller_id, started_at,
         duration_ms, success, error, args, result, read_only)
       select gen_random_uuid(), $1, 'other', 1, 'api_key', n::text, n::text, now(), 1, true, '', '{}', '{}', true
       from generate_series(1, 2000) n`,
      [runner.workspaceId],
    );
    await client.query("analyze tool_runner.executions");
    for (const [condition, column] of Object.entries(plans)) {
      const { rows } = await client.query(
        `explain select id from tool_runner.executions where workspace_id = '${runner.workspaceId}' and ${condition} order by started_at desc, id desc limit 51`,
      );
      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      expect(plan).toContain("Index");
      expect(plan).not.toMatch(/Sort|Seq Scan/);
      if (column !== "started_at") expect(plan).toMatch(new RegExp(`Index Cond:.*${column}`));
      expect(plan).not.toContain("Filter:");
    }
  });
});
