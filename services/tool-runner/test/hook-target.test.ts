import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { HookTargetService } from "@toolgate/gen/toolgate/tool_runner/v1/hook_target_pb";
import { createLogger } from "@toolgate/service-host/logger";
import { testTransport } from "@toolgate/testbed/transports";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "./tool-runner-rig.ts";

let runner: ToolRunnerRig;
let targets: Client<typeof HookTargetService>;
beforeAll(async () => {
  runner = await startToolRunnerRig();
  const [replica] = runner.replicas as [ToolRunnerRig["replicas"][number]];
  const log = createLogger({ service: "test", level: "silent" });
  targets = createClient(HookTargetService, testTransport(replica.routes, log));
});
afterAll(() => runner[Symbol.asyncDispose]());

const HANDLER = 'export default () => { throw new Error("a check must not run the tool"); };';

const check = (tool: string, args?: JsonObject) =>
  targets.checkHookTarget({
    workspaceId: runner.workspaceId,
    tool,
    ...(args && { body: Buffer.from(JSON.stringify({ args })) }),
  });

test.each<[JsonObject, boolean, boolean]>([
  [{}, false, false],
  [{ inbound_hook: true }, true, false],
  [{ external_api: true, inbound_hook_write: true }, true, true],
  [{ inbound_hook: true, async: 1 }, false, false],
  [{ inbound_hook: "true", external_api: 1 }, false, false],
])(
  "[IN-48] [IN-49] [IN-50] [IN-51] a tool with %j is released for hooks: %s, and may write: %s",
  async (flags, released, mayWrite) => {
    await runner.saveTool("flagged", { ...flags, handler: HANDLER });
    expect(await check("flagged")).toMatchObject({ released, mayWrite });
  },
);

test("[IN-46] neither an unknown tool, a shared one nor one of another workspace is released", async () => {
  await runner.saveTool("mine", { inbound_hook: true, handler: HANDLER });
  for (const [workspaceId, tool] of [
    [runner.workspaceId, "nothing"],
    [runner.workspaceId, "emitWebhookEvent"],
    [randomUUID(), "mine"],
  ] as const) {
    expect(await targets.checkHookTarget({ workspaceId, tool })).toMatchObject({ released: false, arguments: [] });
  }
});

test("[IN-41] [IN-67] the declared arguments leave out those that the server sets", async () => {
  const properties = { text: { type: "string" }, any: {}, two: { type: ["string", "null"] }, _webhook: {}, _own: {} };
  await runner.saveTool("declaring", {
    inbound_hook: true,
    handler: HANDLER,
    parameters: { type: "object", properties },
  });
  const { arguments: declared } = await check("declaring");
  expect(declared.map(({ name, type }) => [name, type]).toSorted()).toEqual([
    ["_own", ""],
    ["any", ""],
    ["text", "string"],
    ["two", ""],
  ]);
});

test("[IN-42] [IN-43] [IN-44] arguments are checked as by a run, which does not happen", async () => {
  const properties = { text: { type: "string" }, deep: { type: "object" }, password: {} };
  const parameters = { type: "object", properties, required: ["text"] };
  await runner.saveTool("checking", { inbound_hook: true, handler: HANDLER, parameters });
  const rules = async (args: JsonObject) =>
    (await check("checking", args)).violations.map(({ field, rule }) => [field, rule]);
  expect(await rules({})).toEqual([["text", "required"]]);
  expect(await rules({ text: 1 })).toEqual([["text", "type"]]);
  expect(await rules({ text: "a", deep: { list: [{ "{{name": 1 }] } })).toEqual([["", "marker"]]);
  const fine = await check("checking", { text: "a", other: "{{", password: "geheim" });
  expect(fine.violations).toEqual([]);
  expect(JSON.parse(Buffer.from(fine.argsJson).toString())).toEqual({ text: "a", password: "[entfernt]" });
});
