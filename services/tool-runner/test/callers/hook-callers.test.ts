import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ToolRunnerRig } from "../tool-runner-rig.ts";
import {
  type Caller,
  type CallerRig,
  CHAT,
  HOOK,
  HOOK_VALUE,
  PUBLIC,
  startCallerRig,
  TASK,
  TEST,
} from "./caller-rig.ts";

describe("hooks as callers", () => {
  let rig: CallerRig;
  let runner: ToolRunnerRig;

  beforeAll(async () => {
    rig = await startCallerRig();
    runner = rig.runner;
    await runner.saveTool("show", {
      public_api: true,
      external_api: true,
      inbound_hook: true,
      parameters: { type: "object", properties: { _webhook: {}, _api_key: {}, data: {} } },
      handler: "export default (args) => ({ success: true, args });",
    });
  });
  afterAll(() => runner[Symbol.asyncDispose]());

  const run: CallerRig["run"] = (...call) => rig.run(...call);
  const resultOf: CallerRig["resultOf"] = (...call) => rig.resultOf(...call);

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
      const { outcome } = await run(HOOK, "show", { data });
      expect(outcome).toMatchObject({
        case: "invalidArguments",
        value: { violations: [{ field: "", rule: "marker" }] },
      });
      expect((await run(CHAT, "show", { data })).outcome.case).toBe("resultJson");
    }
    expect((await run(HOOK, "show", { data: "{ {", undeclared: "{{" })).outcome.case).toBe("resultJson");
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

  it("[IN-20] strings of a form become the declared integers, numbers and booleans, and nothing else does", async () => {
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
    expect((await run(form, "form", { count: "03" })).outcome.case).toBe("invalidArguments");
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
      const { outcome } = await rig.runsOf("inbound-hook").run({
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
    await expect(run(HOOK, "broken")).rejects.toThrow("[aborted] the tool could not be started");
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
});
