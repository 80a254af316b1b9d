import { HookFormat } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { generateSecret } from "@toolgate/webhook-signing/secret";
import { sign } from "@toolgate/webhook-signing/sign";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestWorkspace } from "../hook-rig.ts";
import { newBody, type ReceiveRig, startReceiveRig } from "../receive-rig.ts";

let rig: ReceiveRig;
let workspace: TestWorkspace;
beforeAll(async () => {
  rig = await startReceiveRig({ replicas: 2 });
  workspace = await rig.newWorkspace();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

type Hook = { id: bigint; url: string; secret: string };
const REPLICAS = [0, 1];
const statusesOf = (hook: Hook) =>
  Promise.all(REPLICAS.map(async (replica) => (await rig.sendSigned(hook, { body: newBody(), replica })).status));

test("[AUTH] [IN-17] a rotation, a deactivation, an edit and a deletion apply on every replica from their response on", async () => {
  const { url, id, secret } = await workspace.createHook({ limit: 10_000 });
  const hook = { url, id, secret };
  expect(await statusesOf(hook)).toEqual([202, 202]);
  for (let round = 0; round < 2; round += 1) {
    const rotated = await workspace.hooks.rotateHookSecret({ hookId: id });
    expect(await statusesOf(hook)).toEqual([401, 401]);
    hook.secret = rotated.secret;
    expect(await statusesOf(hook)).toEqual([202, 202]);
    await workspace.hooks.updateHook({ hookId: id, active: false });
    expect(await statusesOf(hook)).toEqual([404, 404]);
    await workspace.hooks.updateHook({ hookId: id, active: true });
    expect(await statusesOf(hook)).toEqual([202, 202]);
    await rig.lock(workspace, true);
    expect(await statusesOf(hook)).toEqual([403, 403]);
    await rig.lock(workspace, false);
    expect(await statusesOf(hook)).toEqual([202, 202]);
  }
  const at = Math.floor(Date.now() / 1000) - 200;
  expect((await rig.sendSigned(hook, { body: newBody(), at })).status).toBe(202);
  await workspace.hooks.updateHook({ hookId: id, toleranceSeconds: 60 });
  for (const replica of REPLICAS)
    expect((await rig.sendSigned(hook, { body: newBody(), at, replica })).status).toBe(401);
  await workspace.hooks.updateHook({ hookId: id, limit: 1 });
  // A new minute may begin in between.
  await eventually(async () => expect(await statusesOf(hook)).toEqual([429, 429]), { deadlineMs: 10_000 });
  await workspace.hooks.deleteHook({ hookId: id });
  expect(await statusesOf(hook)).toEqual([404, 404]);
});

test("[AUTH-20] a provider's secret can be replaced, and only the new one is valid", async () => {
  const [first, second] = [generateSecret(), generateSecret()];
  const { url, id } = await workspace.createHook({ format: HookFormat.PROCESSOR, providerSecret: first });
  const send = async (secret: string) => {
    const body = newBody();
    const headers = { "processor-signature": sign(secret, Math.floor(Date.now() / 1000), body) };
    return (await rig.send(url, { body, headers })).status;
  };
  expect([await send(first), await send(second)]).toEqual([202, 401]);
  await workspace.hooks.rotateHookSecret({ hookId: id, providerSecret: second });
  expect([await send(first), await send(second)]).toEqual([401, 202]);
});
