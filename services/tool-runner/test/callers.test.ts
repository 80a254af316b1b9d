import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { type RunRequestSchema, RunService } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { createLogger } from "@toolgate/service-host/logger";
import { unaryRoutes } from "@toolgate/service-host/rpc/hot-calls";
import { localTransport } from "@toolgate/service-host/rpc/transport";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "./tool-runner-rig.ts";

type Caller = NonNullable<MessageInitShape<typeof RunRequestSchema>["caller"]>;

const HOOK_VALUE = {
  chatId: "hook_9_1_x",
  hookId: "9",
  hookName: "Shop",
  deliveryId: "delivery-1",
  externalId: "order-1",
  receivedAt: "2026-11-21T08:00:00Z",
};
const CHAT: Caller = { case: "chat", value: { chatId: "chat-1", callerId: "user-1", hop: 1 } };
const TASK: Caller = { case: "scheduledTask", value: { chatId: "", taskId: "task-1", hop: 1 } };
const PUBLIC: Caller = { case: "publicApi", value: { chatId: "public-1", callerId: "visitor" } };
const HOOK: Caller = { case: "hook", value: HOOK_VALUE };
const TEST: Caller = { case: "test", value: { chatId: "test-1", callerId: "admin-1" } };

const FREE = `export default async (args, ctx) => {
  try { return { success: true, value: await ctx.executeQuery(args.sql), read_only: ctx.read_only }; }
  catch (error) { return { success: false, code: error.code }; }
};`;
const INSERT = "insert into orders values (1) returning id";

describe("callers from inside", () => {
  let runner: ToolRunnerRig;
  let runs: Client<typeof RunService>;

  beforeAll(async () => {
    runner = await startToolRunnerRig();
    const [replica] = runner.replicas as [ToolRunnerRig["replicas"][number]];
    const log = createLogger({ service: "test", level: "silent" });
    runs = createClient(RunService, localTransport(unaryRoutes("tool-runner", replica), log, "internal"));
    await runner.data.query("create table orders (id int)");
    await runner.dataSource.setDataSource({ url: runner.dataUrl });
    const properties = { sql: { type: "string" }, _webhook: {}, _api_key: {}, data: {} };
    const parameters = { type: "object", properties };
    const open = { public_api: true, external_api: true, inbound_hook: true, parameters };
    await runner.saveTool("free", { ...open, handler: FREE });
    await runner.saveTool("free_hook_write", { ...open, inbound_hook_write: true, handler: FREE });
    await runner.saveTool("free_key_write", { ...open, external_api_write: true, handler: FREE });
    await runner.saveTool("free_below", {
      ...open,
      handler: 'export default (args, ctx) => ctx.callTool("free", args);',
    });
    await runner.saveTool("show", { ...open, handler: "export default (args) => ({ success: true, args });" });
    await runner.saveTool("async_tool", { ...open, async: true, handler: "export default () => ({});" });
  });
  beforeEach(() => runner.data.query("truncate orders"));
  afterAll(() => runner[Symbol.asyncDispose]());

  const run = async (caller: Caller, tool: string, args: JsonObject = {}) =>
    runs.run({
      workspaceId: runner.workspaceId,
      workspace: "acme",
      workspaceEpoch: await runner.currentEpoch(),
      tool,
      body: Buffer.from(JSON.stringify({ args })),
      caller,
    });
  async function resultOf(caller: Caller, tool: string, args: JsonObject = {}) {
    const { outcome } = await run(caller, tool, args);
    if (outcome.case !== "resultJson") throw new Error(`${tool} ended as ${outcome.case}`);
    return JSON.parse(Buffer.from(outcome.value).toString());
  }
  const orders = async () => (await runner.data.query("select id from orders")).rows;

  it.each([
    ["chat", CHAT, "chat-1", "user-1"],
    ["scheduled_task", TASK, "", "task-1"],
    ["public_api", PUBLIC, "public-1", "visitor"],
    ["hook", HOOK, "hook_9_1_x", "9"],
    ["test", TEST, "test-1", "admin-1"],
  ] as const)(
    "[LOG] a run by %s is in the execution log with chat and caller",
    async (entryType, caller, chatId, callerId) => {
      const { executionId } = await run(caller, "show");
      const entry = await eventually(async () => {
        const { executions } = await runner.executions.listExecutions({ entryType });
        return executions.find(({ id }) => id === executionId) ?? false;
      });
      expect(entry).toMatchObject({ entryType, chatId, callerId, readOnly: entryType === "hook" });
    },
  );

  it.each([
    ["chat", CHAT],
    ["scheduled_task", TASK],
    ["test", TEST],
  ] as const)("[RO-4] a run by %s may use free SQL, from nested tools too", async (_name, caller) => {
    const written = { success: true, value: { success: true, rows: [{ id: 1 }], row_count: 1 }, read_only: false };
    expect(await resultOf(caller, "free", { sql: INSERT })).toEqual(written);
    expect(await resultOf(caller, "free_below", { sql: INSERT })).toEqual(written);
    expect(await resultOf(caller, "executeQuery", { sql: INSERT })).toMatchObject({ row_count: 1 });
    expect(await orders()).toHaveLength(3);
  });

  it("[RO-4] [IN-54] free SQL is refused to the public API, and to hooks and assistants that may only read", async () => {
    const reading = { case: "chat", value: { ...CHAT.value, readOnly: true } } as Caller;
    for (const caller of [HOOK, PUBLIC, reading]) {
      for (const tool of ["free", "free_below"]) {
        expect(await resultOf(caller, tool, { sql: INSERT })).toEqual({ success: false, code: "READ_ONLY" });
      }
    }
    expect(await resultOf(PUBLIC, "free_key_write", { sql: INSERT })).toMatchObject({ code: "READ_ONLY" });
    expect((await run(reading, "executeQuery", { sql: INSERT })).outcome.case).toBe("toolFailed");
    expect(await orders()).toEqual([]);
  });

  it("[IN-52] [IN-53] a hook's run of a tool with a write flag may write, also with free SQL", async () => {
    for (const tool of ["free_hook_write", "free_key_write"]) {
      expect(await resultOf(HOOK, tool, { sql: INSERT })).toMatchObject({ success: true, read_only: false });
    }
    expect(await orders()).toHaveLength(2);
  });

  it("[IN-56] [IN-57] an assistant's tools may write for a hook only if its caller says so", async () => {
    for (const readOnly of [true, false]) {
      const assistant = { case: "chat", value: { ...CHAT.value, hop: 2, readOnly } } as Caller;
      expect(await resultOf(assistant, "free_below", { sql: INSERT })).toMatchObject({ success: !readOnly });
    }
    expect(await orders()).toHaveLength(1);
  });

  it("[EVT] free SQL in test mode returns its rows and is rolled back", async () => {
    const trying = { case: "chat", value: { ...CHAT.value, testMode: true } } as Caller;
    expect(await resultOf(trying, "free", { sql: INSERT })).toMatchObject({ value: { rows: [{ id: 1 }] } });
    expect(await orders()).toEqual([]);
  });

  it("[CHAT-10] the response names the tools whose writes test mode suppressed, nested ones too", async () => {
    const trying = { case: "chat", value: { ...CHAT.value, testMode: true } } as Caller;
    expect((await run(trying, "free_below", { sql: INSERT })).suppressed).toEqual(["free"]);
    expect((await run(trying, "show")).suppressed).toEqual([]);
    expect((await run(CHAT, "free_below", { sql: INSERT })).suppressed).toEqual([]);
  });

  it("[CHAT] a chat that does not know the workspace's epoch runs what was saved last", async () => {
    const shown = async () => {
      const body = Buffer.from("{}");
      const call = { workspaceId: runner.workspaceId, workspace: "acme", tool: "changing", body, caller: CHAT };
      const { outcome } = await runs.run(call);
      return outcome.case === "resultJson" && JSON.parse(Buffer.from(outcome.value).toString()).round;
    };
    for (let round = 1; round <= 3; round += 1) {
      await runner.saveTool("changing", { handler: `export default () => ({ round: ${round} });` });
      expect(await shown()).toBe(round);
    }
  });

  it("[RO] free SQL is one statement, and ends when the run's time is up", async () => {
    expect(await resultOf(CHAT, "free", { sql: "select 1; select 2" })).toMatchObject({ code: "QUERY_FAILED" });
    expect(await resultOf(CHAT, "free", { sql: "x".repeat(100_001) })).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("[IN-67] [IN-68] a hook's run gets _webhook from the server, never from the caller; other runs get none", async () => {
    const _webhook = { hook_id: "forged" };
    expect(await resultOf(HOOK, "show", { _webhook, data: 1 })).toEqual({
      success: true,
      args: {
        data: 1,
        _webhook: {
          hook_id: "9",
          hook_name: "Shop",
          delivery_id: "delivery-1",
          external_id: "order-1",
          received_at: "2026-11-21T08:00:00Z",
        },
      },
    });
    const without = { case: "hook", value: { ...HOOK_VALUE, externalId: "" } } as Caller;
    expect((await resultOf(without, "show")).args._webhook.external_id).toBeNull();
    for (const caller of [CHAT, TASK, PUBLIC, TEST]) {
      expect((await resultOf(caller, "show", { _webhook, _api_key: _webhook })).args).toEqual({});
    }
  });

  it("[IN-44] {{ in any text or name of declared arguments is refused, but only to hooks", async () => {
    for (const data of ["{{secret:X}}", { deep: ["a {{"] }, { "{{name": 1 }]) {
      expect((await run(HOOK, "show", { data })).outcome.case).toBe("invalidArguments");
      expect((await run(CHAT, "show", { data })).outcome.case).toBe("resultJson");
    }
    expect((await run(HOOK, "show", { data: "{ {", undeclared: "{{" })).outcome.case).toBe("resultJson");
  });

  it("[IN-44] {{ is refused by the rule marker, after undeclared arguments are dropped", async () => {
    const { outcome } = await run(HOOK, "show", { data: { a: [{ b: "x {{y}}" }] }, undeclared: "{{" });
    expect(outcome).toMatchObject({ case: "invalidArguments", value: { violations: [{ field: "", rule: "marker" }] } });
  });

  it("[IN-12] only a hook is told why a run failed, without the secrets that the run has used", async () => {
    await runner.dataSource.saveSecret({
      name: "TOKEN",
      value: "s3cret-value-of-the-hook",
      hosts: [new URL(runner.receiver.url).host],
    });
    await runner.saveTool("failing", {
      inbound_hook: true,
      inbound_hook_write: true,
      handler: `export default async (args, ctx) => {
        await ctx.fetch("${runner.receiver.url}/x", { headers: { authorization: "Bearer {{secret:TOKEN}}" } });
        throw new Error("no stock for s3cret-value-of-the-hook");
      };`,
    });
    const failed = await run(HOOK, "failing");
    expect(failed.executionId).not.toBe("");
    expect(failed.outcome).toMatchObject({ case: "toolFailed", value: { error: "no stock for [entfernt]" } });
    expect((await run(CHAT, "failing")).outcome).toMatchObject({ case: "toolFailed", value: { error: "" } });
  });

  it("[IN-20] texts of a form become the declared integers, numbers and booleans, and nothing else does", async () => {
    const parameters = {
      type: "object",
      properties: {
        count: { type: "integer" },
        price: { type: "number" },
        paid: { type: "boolean" },
        zip: { type: "string" },
        ids: { type: "array", items: { type: "integer" } },
      },
    };
    await runner.saveTool("form", {
      inbound_hook: true,
      parameters,
      handler: "export default ({ _webhook, ...args }) => ({ success: true, args });",
    });
    const form = { case: "hook", value: { ...HOOK_VALUE, fromForm: true } } as Caller;
    const sent = { count: "3", price: "12.50", paid: "true", zip: "01234", ids: ["1", "2"] };
    expect((await resultOf(form, "form", sent)).args).toEqual({
      count: 3,
      price: 12.5,
      paid: true,
      zip: "01234",
      ids: [1, 2],
    });
    for (const wrong of [{ count: "03" }, { count: "1.5" }, { price: "1,5" }, { paid: "yes" }, { ids: "1" }]) {
      expect((await run(form, "form", wrong)).outcome.case).toBe("invalidArguments");
    }
    expect((await run(HOOK, "form", { count: "3" })).outcome.case).toBe("invalidArguments");
  });

  it("[IN-58] [IN-59] a hook's run without an epoch uses the newest definition", async () => {
    const save = (released: boolean) =>
      runner.saveTool("newest", {
        inbound_hook: released,
        handler: `export default () => ({ released: ${released} });`,
      });
    for (const released of [true, false, true]) {
      await save(released);
      const { outcome } = await runs.run({
        workspaceId: runner.workspaceId,
        workspace: "acme",
        tool: "newest",
        caller: HOOK,
      });
      expect(outcome.case).toBe(released ? "resultJson" : "unavailable");
    }
  });

  it("[IN-33] a hook's run that certainly did not start fails as aborted", async () => {
    await runner.saveTool("broken", { inbound_hook: true, handler: "export default () => ({});" });
    await runner.pool.query(
      `update tool_runner.tool_versions set definition = '{"handler":"("}' where name = 'broken'`,
    );
    await expect(run(HOOK, "broken")).rejects.toThrow("[aborted] the run did not start");
  });

  it("[TOOL-37] a hook's arguments are checked like those of a call by key", async () => {
    await runner.saveTool("strict", {
      external_api: true,
      inbound_hook: true,
      handler: "export default (args) => ({ success: true, names: Object.keys(args) });",
      parameters: {
        type: "object",
        properties: {
          id: { type: "integer", minimum: 1 },
          kind: { type: "string", enum: ["a", "b"] },
          note: { type: "string", maxLength: 3 },
        },
        required: ["id"],
      },
    });
    const key: Caller = { case: "key", value: { keyId: "1", keyName: "Partner", ip: "127.0.0.0", toolListed: true } };
    const violations: [JsonObject, string[]][] = [
      [{}, ["id required"]],
      [{ id: "1" }, ["id type"]],
      [{ id: 0, kind: "c", note: "long" }, ["id minimum", "kind enum", "note maxLength"]],
    ];
    for (const caller of [HOOK, key]) {
      for (const [args, expected] of violations) {
        const { outcome } = await run(caller, "strict", args);
        const violations = outcome.case === "invalidArguments" ? outcome.value.violations : [];
        expect(violations.map(({ field, rule }) => `${field} ${rule}`).toSorted()).toEqual(expected);
      }
      const { names } = await resultOf(caller, "strict", { id: 1, undeclared: true });
      expect(names.filter((name: string) => !name.startsWith("_"))).toEqual(["id"]);
    }
  });

  it("[IN-51] a hook cannot call an async tool, callers from inside can", async () => {
    expect((await run(HOOK, "async_tool")).outcome.case).toBe("unavailable");
    expect((await run(CHAT, "async_tool")).outcome.case).toBe("resultJson");
  });
});
