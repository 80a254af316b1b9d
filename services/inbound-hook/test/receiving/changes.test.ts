import { eventually } from "@toolgate/testbed/eventually";
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

test("[AUTH] [IN-17] [IN-28] a rotation, a deactivation, a lock, an edit and a deletion apply on every replica from their response on", async () => {
  const { url, id, secret } = await workspace.createHook({ limit: 10_000 });
  const hook = { url, id, secret };
  expect(await statusesOf(hook)).toEqual([202, 202]);
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
  const at = Math.floor(Date.now() / 1000) - 200;
  expect((await rig.sendSigned(hook, { body: newBody(), at })).status).toBe(202);
  await workspace.hooks.updateHook({ hookId: id, toleranceSeconds: 60 });
  for (const replica of REPLICAS)
    expect((await rig.sendSigned(hook, { body: newBody(), at, replica })).status).toBe(401);
  await workspace.hooks.updateHook({ hookId: id, limit: 1 });
  // A new minute may begin in between.
  await eventually(async () => expect(await statusesOf(hook)).toEqual([429, 429]));
  await workspace.hooks.deleteHook({ hookId: id });
  expect(await statusesOf(hook)).toEqual([404, 404]);
});
