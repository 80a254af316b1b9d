import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newBody, type ReceiveRig, startReceiveRig } from "../receive-rig.ts";

let rig: ReceiveRig;
beforeAll(async () => {
  rig = await startReceiveRig({ replicas: 2 });
});
afterAll(() => rig?.[Symbol.asyncDispose]());

test("[IN-22] [IN-29] while Redis is down hooks work from Postgres, and each process counts the limit", async () => {
  const workspace = await rig.newWorkspace();
  const hook = await workspace.createHook({ limit: 3 });
  await rig.redis.stop();
  await earlyInMinute();
  const call = { body: newBody(), at: Math.floor(Date.now() / 1000) };
  for (const status of [202, 200, 200, 429]) {
    const response = await rig.sendSigned(hook, call);
    expect(response.status).toBe(status);
    if (status === 429) expect(Number(response.headers["retry-after"])).toBeGreaterThanOrEqual(1);
  }
  // Replay keys are in Postgres, so the other replica knows them.
  expect((await rig.sendSigned(hook, { ...call, replica: 1 })).status).toBe(200);
  await rig.pool.query("update inbound_hook.hook set active = false where id = $1", [hook.id]);
  expect((await rig.sendSigned(hook, { ...call, replica: 1 })).status).toBe(404);
  await rig.redis.restart();
  // Every process has found Redis again when it can announce a change.
  await eventually(() => rig.newWorkspace());
});
