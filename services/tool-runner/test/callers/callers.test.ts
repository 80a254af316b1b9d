import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ToolRunnerRig } from "../tool-runner-rig.ts";
import { type Caller, type CallerRig, CHAT, HOOK, PUBLIC, startCallerRig, TASK } from "./caller-rig.ts";

const FREE = `export default async (args, ctx) => {
  try { return { success: true, value: await ctx.executeQuery(args.sql), read_only: ctx.read_only }; }
  catch (error) { return { success: false, code: error.code }; }
};`;
const INSERT = "insert into orders values (1) returning id";
const OPEN = {
  public_api: true,
  external_api: true,
  inbound_hook: true,
  parameters: { type: "object", properties: { sql: { type: "string" } } },
};

describe("callers from inside", () => {
  let rig: CallerRig;
  let runner: ToolRunnerRig;

  beforeAll(async () => {
    rig = await startCallerRig();
    runner = rig.runner;
    await runner.data.query("create table orders (id int)");
    await runner.dataSource.setDataSource({ url: runner.dataUrl });
    await runner.saveTool("free", { ...OPEN, handler: FREE });
    await runner.saveTool("free_hook_write", { ...OPEN, inbound_hook_write: true, handler: FREE });
    await runner.saveTool("free_key_write", { ...OPEN, external_api_write: true, handler: FREE });
    await runner.saveTool("free_below", {
      ...OPEN,
      handler: 'export default (args, ctx) => ctx.callTool("free", args);',
    });
    await runner.saveTool("show", { ...OPEN, handler: "export default () => ({ success: true });" });
  });
  beforeEach(() => runner.data.query("truncate orders"));
  afterAll(() => runner[Symbol.asyncDispose]());

  const run: CallerRig["run"] = (...call) => rig.run(...call);
  const resultOf: CallerRig["resultOf"] = (...call) => rig.resultOf(...call);
  const orders = async () => (await runner.data.query("select id from orders")).rows;

  it.each([
    ["chat", CHAT, "chat-1", "user-1"],
    ["scheduled_task", TASK, "", "task-1"],
    ["public_api", PUBLIC, "public-1", "visitor"],
    ["hook", HOOK, "hook_9_1_x", "9"],
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

  it("[TOOL-37] [IN-12] a hook's arguments are checked like all others, and only a hook is told why a run failed", async () => {
    const parameters = { type: "object", properties: { id: { type: "integer", minimum: 1 } }, required: ["id"] };
    const handler = 'export default () => { throw new Error("no stock"); };';
    await runner.saveTool("strict", { inbound_hook: true, parameters, handler });
    for (const [caller, error] of [
      [HOOK, "no stock"],
      [CHAT, ""],
    ] as const) {
      const { outcome } = await run(caller, "strict", { id: 0 });
      expect(outcome).toMatchObject({ value: { violations: [{ field: "id", rule: "minimum" }] } });
      expect((await run(caller, "strict", { id: 1 })).outcome).toMatchObject({ case: "toolFailed", value: { error } });
    }
  });

  it("[RO] free SQL is one statement of at most 100,000 characters", async () => {
    expect(await resultOf(CHAT, "free", { sql: "select 1; select 2" })).toMatchObject({ code: "QUERY_FAILED" });
    expect(await resultOf(CHAT, "free", { sql: "x".repeat(100_001) })).toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});
