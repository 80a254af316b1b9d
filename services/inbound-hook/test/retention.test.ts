import { lockGroup } from "@toolgate/testbed/locked-group";
import { afterAll, beforeAll, expect, test } from "vitest";
import { maintainPartitions } from "../src/store/retention.ts";
import type { TestWorkspace } from "./hook-rig.ts";
import { type RunRig, startRunRig } from "./running/run-rig.ts";

const DAY_MS = 86_400_000;

let rig: RunRig;
let workspace: TestWorkspace;
beforeAll(async () => {
  rig = await startRunRig();
  workspace = await rig.newWorkspace();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

async function members({ id: workspaceId } = workspace): Promise<Set<bigint>> {
  const text = "select member_id as id from inbound_hook.tool_queue_member where group_id = $1";
  const { rows } = await rig.pool.query(text, [workspaceId]);
  return new Set(rows.map(({ id }) => BigInt(id)));
}

test("[NFR] the queue forgets a deleted hook once it has no deliveries, because every claim reads all hooks of a workspace", async () => {
  const [busy, idle, kept] = [await workspace.createHook(), await workspace.createHook(), await workspace.createHook()];
  for (const hook of [busy, idle, kept]) await rig.ended(await rig.accept(hook));
  const queue = "inbound_hook.tool_queue_item";
  await rig.pool.query(
    `insert into ${queue} (item_id, group_id, member_id, created_at, due_at)
     values (gen_random_uuid(), $1, $2, now(), '2100-01-01')`,
    [workspace.id, busy.id],
  );
  for (const { id } of [busy, idle]) await workspace.hooks.deleteHook({ hookId: id });
  await maintainPartitions(rig.pool, rig.clock.now());
  expect(await members()).toEqual(new Set([busy.id, kept.id]));
  await rig.pool.query(`delete from ${queue} where member_id = $1`, [busy.id]);
  await maintainPartitions(rig.pool, rig.clock.now());
  expect(await members()).toEqual(new Set([kept.id]));
});

test("[NFR] while the queue of one workspace is locked, those of others forget deleted hooks, and its own does afterwards", async () => {
  const workspaces = [await rig.newWorkspace(), await rig.newWorkspace()] as const;
  const [locked, free] = workspaces;
  for (const { createHook, hooks } of workspaces) {
    const hook = await createHook();
    await rig.ended(await rig.accept(hook));
    await hooks.deleteHook({ hookId: hook.id });
  }
  await using lock = await lockGroup(rig.pool, "inbound_hook.tool_queue", locked.id);
  await maintainPartitions(rig.pool, rig.clock.now());
  expect([(await members(locked)).size, (await members(free)).size]).toEqual([1, 0]);
  await lock.disposeAsync();
  await maintainPartitions(rig.pool, rig.clock.now());
  expect((await members(locked)).size).toBe(0);
});

test("[IN-14] deliveries, their runs and their replay keys are deleted after 30 days, and not before", async () => {
  const hook = await workspace.createHook();
  const headers = { "x-service-delivery": "order-1" };
  const id = await rig.accept(hook, { text: "a" }, { headers });
  await rig.ended(id);
  const stored = async () => {
    const tables = ["delivery where id = $1", "run where delivery_id = $1", "replay_key where delivery_id = $1"];
    const counts = tables.map((table) => rig.pool.query(`select from inbound_hook.${table}`, [id]));
    return (await Promise.all(counts)).map(({ rowCount }) => rowCount);
  };
  rig.clock.advance(30 * DAY_MS);
  await maintainPartitions(rig.pool, rig.clock.now());
  expect(await stored()).toEqual([1, 1, 2]);
  const repeat = await rig.sendSigned(hook, { body: '{"text":"b"}', headers });
  expect(repeat.body).toMatchObject({ duplicate: true, delivery_id: id });

  rig.clock.advance(DAY_MS);
  await maintainPartitions(rig.pool, rig.clock.now());
  expect(await stored()).toEqual([0, 0, 0]);
  expect(await rig.accept(hook, { text: "b" }, { headers })).not.toBe(id);
});
