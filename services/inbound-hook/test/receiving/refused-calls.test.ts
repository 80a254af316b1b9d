import { HookFormat } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addRefusedCalls } from "../../src/store/refused-calls.ts";
import { maintainPartitions } from "../../src/store/retention.ts";
import { newBody, type ReceiveRig, startReceiveRig } from "../receive-rig.ts";

let rig: ReceiveRig;
beforeAll(async () => {
  rig = await startReceiveRig();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

test("[IN-26] [IN-27] [IN-25] managers see for a day why calls were refused, and other workspaces see nothing", async () => {
  const [workspace, other] = [await rig.newWorkspace(), await rig.newWorkspace()];
  const hook = await workspace.createHook();
  const bearer = await workspace.createHook({ format: HookFormat.BEARER });
  const at = Math.floor(rig.clock.now().getTime() / 1000);
  await rig.send(hook.url, { body: newBody() });
  await rig.send(hook.url, { body: newBody(), headers: { "x-service-signature": "nonsense" } });
  await rig.sendSigned(hook, { body: newBody(), at: at - 400 });
  await rig.sendSigned({ url: hook.url, secret: "whsec_other" }, { body: newBody() });
  await rig.sendSigned(hook, { body: "{" });
  await rig.sendSigned(hook, { body: newBody(), headers: { "x-service-hop": "2" } });
  await rig.send(bearer.url, { body: newBody(), headers: { authorization: "Bearer other" } });
  const calls = await eventually(async () => {
    const list = await workspace.deliveries.listRefusedCalls({});
    return list.calls.length === 7 && list.calls.toReversed();
  });
  const wrong = "the signature or token is not right: another secret, or the body was changed after signing";
  expect(calls.map(({ hookId, status, reason, secondsOff }) => [hookId, status, reason, secondsOff])).toEqual([
    [hook.id, 401, "the header x-service-signature is missing, or was sent more than once", undefined],
    [hook.id, 401, "the headers of the signature cannot be read", undefined],
    [hook.id, 401, "the time of the signature is too far from our clock", expect.closeTo(-400, -1)],
    [hook.id, 401, wrong, undefined],
    [hook.id, 400, "the body is not JSON", undefined],
    [hook.id, 508, "the call would trigger itself", undefined],
    [bearer.id, 401, wrong, undefined],
  ]);
  const [first] = calls;
  const found = await workspace.deliveries.listRefusedCalls({ requestId: first?.requestId ?? "" });
  expect(found.calls.map(({ reason }) => reason)).toEqual([first?.reason]);
  expect((await workspace.deliveries.listRefusedCalls({ hookId: bearer.id })).calls).toHaveLength(1);
  expect((await other.deliveries.listRefusedCalls({})).calls).toEqual([]);
  expect((await other.deliveries.listRefusedCalls({ hookId: hook.id })).calls).toEqual([]);
  rig.clock.advance(25 * 3_600_000);
  await maintainPartitions(rig.pool, rig.clock.now());
  expect((await workspace.deliveries.listRefusedCalls({})).calls).toEqual([]);
});

test("[IN-26] of a flood of refused calls the newest hundred are kept", async () => {
  const workspace = await rig.newWorkspace();
  const hook = await workspace.createHook();
  const call = (n: number) => ({
    hookId: Number(hook.id),
    refusedAt: rig.clock.now(),
    status: 401,
    reason: `number ${n}`,
    secondsOff: undefined,
    requestId: "r",
  });
  for (let n = 0; n < 3; n += 1) {
    await addRefusedCalls(
      rig.pool,
      Array.from({ length: 50 }, (_, index) => call(n * 50 + index)),
    );
  }
  const { calls } = await workspace.deliveries.listRefusedCalls({ hookId: hook.id });
  expect([calls.length, calls.at(0)?.reason, calls.at(-1)?.reason]).toEqual([100, "number 149", "number 50"]);
});
