import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CreateHookInit, TestWorkspace } from "../hook-rig.ts";
import { type RunRig, startRunRig, type TestHook } from "./run-rig.ts";

let rig: RunRig;
let workspace: TestWorkspace;
beforeAll(async () => {
  rig = await startRunRig();
  workspace = await rig.newWorkspace();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

const UUID = /^[0-9a-f-]{36}$/;
const SHOW = "export default ({ _webhook, ...args }) => ({ success: true, args, keys: Object.keys(args) });";
type Source = NonNullable<Exclude<CreateHookInit["arguments"], undefined>["source"]>;
const FIELDS: Source = { case: "fields", value: {} };
const toolTarget = (tool: string) => ({ target: { target: { case: "tool", value: tool } } }) as const;

/** Saves the tool and creates a hook for it; the arguments are the fields of the body by default. */
async function hookFor(tool: string, definition: JsonObject, source: Source = FIELDS): Promise<TestHook> {
  await workspace.saveTool(tool, { inbound_hook: true, handler: SHOW, ...definition });
  return workspace.createHook({ ...toolTarget(tool), arguments: { source } });
}

async function run(hook: TestHook, body?: unknown, headers = {}) {
  const { last, ...outcome } = await rig.ended(await rig.accept(hook, body, { headers }));
  return { ...outcome, ...last, result: last.result === "" ? undefined : JSON.parse(last.result) };
}

const mapping = (pointers: Record<string, string>): Source => ({ case: "mapping", value: { pointers } });
const payload = (pointers: Record<string, string> = {}): Source => ({ case: "payload", value: { pointers } });

const ANY = { a: {}, b: {}, n: { type: "integer" }, deep: {}, payload: { type: "object" } };
const parameters = (properties: JsonObject, required: string[] = []) => ({
  parameters: { type: "object", properties, required },
});

it("[IN-12] [IN-37] arguments that are larger than any body fail the run, before anything is made of them", async () => {
  const pointers = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`a${n}`, ""]));
  const properties = Object.fromEntries(Object.keys(pointers).map((name) => [name, {}]));
  const hook = await hookFor("copies", parameters(properties), mapping(pointers));
  const error = "the arguments are larger than 256 KB";
  expect(await run(hook, { text: "x".repeat(250_000) })).toMatchObject({ status: "failed", error, args: "" });
  expect(await run(hook, { text: "x" })).toMatchObject({ status: "succeeded" });
});

it("[IN-12] [IN-33] [IN-34] the target runs immediately, and only the log has its result, error and duration", async () => {
  const hook = await hookFor("logged", parameters(ANY));
  const id = await rig.accept(hook, { a: 1, password: "p", api_key: "k" });
  const { last, ...outcome } = await rig.ended(id);
  expect(outcome).toMatchObject({ status: "succeeded", error: "" });
  expect(last).toMatchObject({
    number: 1,
    status: "succeeded",
    args: '{"a":1,"password":"[entfernt]","api_key":"[entfernt]"}',
    error: "",
    chat_id: "",
    requested_by: "",
  });
  expect(JSON.parse(last.result)).toEqual({ success: true, args: { a: 1 }, keys: ["a"] });
  expect(last.execution_id).toMatch(UUID);
  expect(last.started_at.getTime() - outcome.created_at.getTime()).toBeLessThan(20_000);

  await workspace.saveTool("logged", {
    inbound_hook: true,
    handler: 'export default () => { throw new Error("no stock"); };',
  });
  const failed = await run(hook, { a: 2 });
  expect(failed).toMatchObject({ status: "failed", error: "no stock", result: undefined });
  expect(failed.execution_id).toMatch(UUID);
});

describe("arguments", () => {
  const BODY = { a: { "x/y": [1, { "m~n": "deep" }] }, b: null, n: 1, c: "undeclared" };

  it("[IN-36] [IN-41] without a setting they are the declared top-level fields", async () => {
    const { result } = await run(await hookFor("fields", parameters(ANY)), BODY);
    expect(result.args).toEqual({ a: BODY.a, b: null, n: 1 });
  });

  it("[IN-39] [IN-40] the payload is the whole body, and the mapping wins for what it names", async () => {
    const handler = "export default ({ payload, n }) => ({ payload: JSON.stringify(payload), n });";
    const hook = await hookFor("whole", { ...parameters(ANY), handler }, payload({ n: "/n" }));
    const whole = await run(hook, { ...BODY, _webhook: 1 });
    expect(JSON.parse(whole.result.payload)).toEqual({ ...BODY, _webhook: 1 });
    expect(whole.result.n).toBe(1);
    const named = await run(await hookFor("named", parameters(ANY), payload({ payload: "/a" })), BODY);
    expect(named.result.args).toEqual({ payload: BODY.a });
  });

  it("[IN-42] [IN-43] required and types are checked after the 202, and the tool does not run", async () => {
    const hook = await hookFor(
      "strict",
      parameters({ n: { type: "integer", maximum: 5 }, a: { type: "string" } }, ["n"]),
    );
    for (const [body, error] of [
      [{ a: "x" }, "n: is required"],
      [{ n: "1" }, "n: must be of type integer"],
      [{ n: null }, "n: must be of type integer"],
      [{ n: 6, a: 1 }, "n: must be at most 5; a: must be of type string"],
    ] as const) {
      const outcome = await run(hook, body);
      expect(outcome).toMatchObject({ status: "failed", execution_id: "", duration_ms: 0, result: undefined });
      expect(outcome.error.split("; ").toSorted()).toEqual(error.split("; ").toSorted());
    }
  });

  it("[IN-44] {{ is refused in strings and names, at any depth, also when it is escaped, but not in what is dropped", async () => {
    const hook = await hookFor("marked", parameters(ANY));
    const refused = { status: "failed", error: "the arguments: {{ is not allowed", execution_id: "" };
    for (const body of ['{"a":"x {{y}}"}', '{"a":{"l":[{"{{":1}]}}', '{"a":"\\u007b\\u007b"}']) {
      expect(await run(hook, body)).toMatchObject(refused);
    }
    expect(await run(hook, { a: "{ {", c: "{{", "{{": 1 })).toMatchObject({ status: "succeeded" });
    const whole = await hookFor("marked_payload", parameters(ANY), payload());
    expect(await run(whole, { any: { "x{{": 1 } })).toMatchObject(refused);
  });

  it("[IN-20] a form is mapped like JSON, and its strings become what the tool declares", async () => {
    const hook = await hookFor(
      "form",
      parameters({ n: { type: "integer" }, a: { type: "array" }, b: { type: "boolean" } }),
    );
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const { result } = await run(hook, "n=12&a=1&a=x%20y&b=true&c=3", headers);
    expect(result.args).toEqual({ n: 12, a: ["1", "x y"], b: true });
    expect(await run(hook, "n=012", headers)).toMatchObject({ error: "n: must be of type integer" });
    expect(await run(hook, "a={{", headers)).toMatchObject({ error: "the arguments: {{ is not allowed" });
    expect(await run(hook, { n: "12" })).toMatchObject({ error: "n: must be of type integer" });
  });
});

it("[IN-67] [IN-68] the tool gets _webhook from the server, whatever body, mapping and declaration say", async () => {
  const forged = { hook_id: "forged", extra: true };
  const definition = {
    ...parameters({ a: {}, _webhook: { type: "string" }, payload: { type: "object" } }),
    // The log drops names that begin with an underscore.
    handler: "export default ({ _webhook, ...args }) => ({ webhook: _webhook, args: JSON.stringify(args) });",
  };
  async function check(hook: TestHook, body: JsonObject, externalId: string | null, args: JsonObject) {
    const headers = externalId === null ? {} : { "x-service-delivery": externalId };
    const id = await rig.accept(hook, body, { headers });
    const { last, created_at } = await rig.ended(id);
    const result = JSON.parse(last.result);
    expect(result.webhook).toEqual({
      hook_id: String(hook.id),
      hook_name: "Hook",
      delivery_id: id,
      external_id: externalId,
      received_at: created_at.toISOString(),
    });
    expect(JSON.parse(result.args)).toEqual(args);
  }
  const fields = await hookFor("injected", definition);
  await check(fields, { a: 1, _webhook: forged, _api_key: forged }, "order-1", { a: 1 });
  await check(fields, { a: 2 }, null, { a: 2 });
  const whole = await hookFor("injected_whole", definition, payload());
  await check(whole, { _webhook: forged }, null, { payload: { _webhook: forged } });
});

describe("release", () => {
  it("[IN-51] [IN-58] [IN-59] it is checked whenever a delivery is processed", async () => {
    const hook = await hookFor("released", parameters(ANY));
    expect(await run(hook)).toMatchObject({ status: "succeeded" });
    await workspace.saveTool("released", { inbound_hook: true, async: true, handler: SHOW });
    expect(await run(hook, { a: 0 })).toMatchObject({ error: "not released" });
    await workspace.saveTool("released", { handler: SHOW });
    expect(await run(hook, { a: 1 })).toMatchObject({ status: "failed", error: "not released", execution_id: "" });
    await workspace.saveTool("released", { external_api: true, handler: SHOW });
    expect(await run(hook, { a: 2 })).toMatchObject({ status: "succeeded" });
  });

  it("[IN-50] values other than true do not release a tool", async () => {
    const hook = await hookFor("exactly", parameters(ANY));
    for (const value of [1, "yes", "true", null]) {
      await workspace.saveTool("exactly", { inbound_hook: value, external_api: value, handler: SHOW });
      expect(await run(hook, { a: value })).toMatchObject({ status: "failed", error: "not released" });
    }
  });

  it.each([
    [{ inbound_hook: true }, true],
    [{ inbound_hook: true, inbound_hook_write: true }, false],
    [{ inbound_hook: true, external_api_write: true }, false],
    [{ external_api: true, inbound_hook_write: true }, false],
    [{ external_api: true, external_api_write: true }, false],
    [{ external_api: true, external_api_write: "true" }, true],
  ])("[IN-52] [IN-53] [IN-54] a tool with %j runs read-only: %s", async (flags, readOnly) => {
    const handler = "export default (args, ctx) => ({ read_only: ctx.read_only });";
    const hook = await hookFor("writing", { inbound_hook: false, ...flags, handler });
    expect((await run(hook)).result).toEqual({ read_only: readOnly });
  });

  it("[IN-46] a hook runs the tool of its own workspace", async () => {
    const other = await rig.newWorkspace();
    await workspace.saveTool("mine", { inbound_hook: true, handler: 'export default () => ({ of: "first" });' });
    await other.saveTool("mine", { inbound_hook: true, handler: 'export default () => ({ of: "second" });' });
    const hook = await other.createHook(toolTarget("mine"));
    expect((await run(hook)).result).toEqual({ of: "second" });
    await other.tools.deleteTool({ name: "mine" });
    expect(await run(hook, { a: 1 })).toMatchObject({ error: "not released" });
  });
});
