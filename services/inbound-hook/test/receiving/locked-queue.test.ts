import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestWorkspace } from "../hook-rig.ts";
import { newBody, type ReceiveRig, startReceiveRig } from "../receive-rig.ts";

let rig: ReceiveRig;
let workspaces: TestWorkspace[];
beforeAll(async () => {
  rig = await startReceiveRig();
  workspaces = [await rig.newWorkspace(), await rig.newWorkspace(), await rig.newWorkspace()];
});
afterAll(() => rig?.[Symbol.asyncDispose]());

test("[IN-22] [FAIR-1] while the queue of one workspace is locked, the calls of all others are accepted", async () => {
  const [stuck, first, second] = await Promise.all(
    workspaces.map((workspace) => workspace.createHook({ limit: 1_000 })),
  );
  if (!stuck || !first || !second) throw new Error("no hooks");
  for (const hook of [stuck, first, second]) expect((await rig.sendSigned(hook, { body: newBody() })).status).toBe(202);
  const blocker = await rig.pool.connect();
  const late = newBody();
  const refused: Promise<number>[] = [];
  try {
    await blocker.query("begin");
    await blocker.query("select from inbound_hook.tool_queue_group where group_id = $1 for update", [
      workspaces[0]?.id,
    ]);
    for (let round = 0; round < 12; round += 1) {
      const body = round === 0 ? late : newBody();
      const stuckCalls = [body, newBody(), newBody()].map((one) => rig.sendSigned(stuck, { body: one }));
      refused.push(...stuckCalls.map((call) => call.then(({ status }) => status)));
      const others = [first, second].map((hook) => rig.sendSigned(hook, { body: newBody() }));
      expect((await Promise.all(others)).map(({ status }) => status)).toEqual([202, 202]);
    }
    expect(new Set(await Promise.all(refused))).toEqual(new Set([503]));
  } finally {
    await blocker.query("rollback");
    blocker.release();
  }
  // What was refused is not stored after all, and a repeat is accepted as new.
  expect(await rig.deliveriesOf(stuck.id)).toHaveLength(1);
  expect((await rig.sendSigned(stuck, { body: late })).status).toBe(202);
  expect(await rig.deliveriesOf(stuck.id)).toHaveLength(2);
});
