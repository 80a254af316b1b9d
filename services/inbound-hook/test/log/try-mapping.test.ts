import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import type { TryMappingRequestSchema } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { refusal } from "@toolgate/testbed/rpc-errors";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestWorkspace } from "../hook-rig.ts";
import { type RunRig, startRunRig } from "../running/run-rig.ts";

const FORM = "application/x-www-form-urlencoded";

type Request = Exclude<MessageInitShape<typeof TryMappingRequestSchema>, { $typeName: string }>;

let rig: RunRig;
let workspace: TestWorkspace;
beforeAll(async () => {
  rig = await startRunRig();
  workspace = await rig.newWorkspace();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

const mapping = (pointers: Record<string, string>) => ({ source: { case: "mapping", value: { pointers } } }) as const;
const pasted = (body: unknown) =>
  ({ source: { case: "body", value: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)) } }) as const;

/** The arguments, or the violated rules by field. */
async function tried(hookId: bigint, request: Request) {
  const { argsJson, violations } = await workspace.deliveries.tryMapping({ hookId, ...request });
  expect(argsJson === "").toBe(violations.length > 0);
  return argsJson === "" ? violations.map(({ field, rule }) => `${field} ${rule}`) : JSON.parse(argsJson);
}

test("[IN-36] [IN-37] [IN-39] a pasted body shows the arguments that the tool would get", async () => {
  const { id } = await workspace.createHook({ arguments: { source: { case: "fields", value: {} } } });
  const body = { text: "a", other: "dropped", _webhook: { hook_id: "forged" }, payload: { password: "p", n: 1 } };
  expect(await tried(id, pasted(body))).toEqual({ text: "a", payload: { password: "[entfernt]", n: 1 } });
  const mapped = { ...pasted(body), arguments: mapping({ text: "/other", count: "/payload/n", payload: "/missing" }) };
  expect(await tried(id, mapped)).toEqual({ text: "dropped", count: 1 });
  const whole = { ...pasted({ n: 1 }), arguments: { source: { case: "payload", value: {} } } } as const;
  expect(await tried(id, whole)).toEqual({ payload: { n: 1 } });
});

test("[IN-42] [IN-43] [IN-44] a violation is named exactly as a run would find it, and nothing runs", async () => {
  await workspace.saveTool("strict", {
    inbound_hook: true,
    parameters: { type: "object", properties: { id: { type: "integer", minimum: 1 }, note: {} }, required: ["id"] },
    handler: 'export default () => { throw new Error("must not run"); };',
  });
  const target = { target: { case: "tool", value: "strict" } } as const;
  const { id } = await workspace.createHook({ target });
  expect(await tried(id, pasted({}))).toEqual(["id required"]);
  expect(await tried(id, pasted({ id: 0 }))).toEqual(["id minimum"]);
  expect(await tried(id, pasted({ id: 1, note: { deep: [{ "{{x": 1 }] } }))).toEqual([" marker"]);
  expect(await tried(id, pasted({ id: 1, undeclared: "{{" }))).toEqual({ id: 1 });
  const twice = { ...pasted({ id: 1, data: "x".repeat(200_000) }), arguments: mapping({ id: "/data", note: "/data" }) };
  expect(await tried(id, twice)).toEqual([" size"]);
  for (const body of ["", "[]", "nonsense", "null", "\ufeff{}"])
    expect(await tried(id, pasted(body))).toEqual([" body"]);
  const { violations } = await workspace.deliveries.tryMapping({
    hookId: id,
    ...pasted('{"id":12345678901234567890}'),
  });
  expect(violations).toMatchObject([{ rule: "body", message: expect.stringMatching(/^a number has more digits/) }]);
  const { executions } = (await rig.pool.query("select count(*)::int as executions from tool_runner.executions"))
    .rows[0];
  expect(executions).toBe(0);
  expect((await workspace.deliveries.listHookDeliveries({ hookId: id })).deliveries).toEqual([]);
});

test("[IN-20] a pasted form is read as a form, with numbers where the tool declares them", async () => {
  const { id } = await workspace.createHook({ arguments: { source: { case: "fields", value: {} } } });
  const form = { ...pasted("text=a+b&count=12"), contentType: FORM };
  expect(await tried(id, form)).toEqual({ text: "a b", count: 12 });
  expect(await tried(id, pasted('{"text":"a","count":"12"}'))).toEqual(["count type"]);
});

test("[IN-7] a mapping is tried on a logged delivery, with the body and type that were received", async () => {
  const hook = await workspace.createHook({ arguments: mapping({ text: "/text" }) });
  const deliveryId = await rig.accept(hook, "text=logged&count=7", { headers: { "content-type": FORM } });
  await rig.ended(deliveryId);
  const source = { case: "deliveryId", value: deliveryId } as const;
  expect(await tried(hook.id, { source })).toEqual({ text: "logged" });
  expect(await tried(hook.id, { source, arguments: mapping({ count: "/count" }) })).toEqual({ count: 7 });
  const other = await rig.newWorkspace();
  const { id: hookId } = await other.createHook();
  await expect(other.deliveries.tryMapping({ hookId, source })).rejects.toEqual(
    refusal(Code.NotFound, /^no such delivery$/),
  );
  await expect(other.deliveries.tryMapping({ hookId: hook.id, ...pasted({}) })).rejects.toEqual(
    refusal(Code.NotFound, /^no such hook$/),
  );
});

test("[IN-7] a request without a body, with a body that is too large, or with a bad mapping is refused", async () => {
  const { id: hookId } = await workspace.createHook();
  const cases: [Request, RegExp][] = [
    [{}, /^source: /],
    [pasted("x".repeat(262_145)), /^body: at most 262144 bytes$/],
    [{ ...pasted({}), arguments: mapping({ other: "" }) }, /"other" is not declared/],
  ];
  for (const [request, reason] of cases) {
    const refused = refusal(Code.InvalidArgument, reason);
    await expect(workspace.deliveries.tryMapping({ hookId, ...request })).rejects.toEqual(refused);
  }
});
