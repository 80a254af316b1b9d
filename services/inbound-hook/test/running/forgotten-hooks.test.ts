import { afterAll, beforeAll, expect, test } from "vitest";
import { maintainPartitions } from "../../src/store/retention.ts";
import type { TestWorkspace } from "../hook-rig.ts";
import { type RunRig, startRunRig } from "./run-rig.ts";

let rig: RunRig;
let workspace: TestWorkspace;
beforeAll(async () => {
  rig = await startRunRig();
  workspace = await rig.newWorkspace();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

async function members(): Promise<string[]> {
  const { rows } = await rig.pool.query(
    `select member_id::text as id from inbound_hook.tool_queue_member where group_id = $1
     union all select member_id::text from inbound_hook.assistant_queue_member where group_id = $1`,
    [workspace.id],
  );
  return rows.map(({ id }) => id);
}

test("[NFR] the queue forgets a hook when it is deleted, because every claim reads all hooks of a workspace", async () => {
  const [deleted, kept] = [await workspace.createHook(), await workspace.createHook()];
  for (const hook of [deleted, kept]) await rig.ended(await rig.accept(hook));
  expect(await members()).toEqual(expect.arrayContaining([String(deleted.id), String(kept.id)]));
  await workspace.hooks.deleteHook({ hookId: deleted.id });
  expect(await members()).toEqual([String(kept.id)]);
  await rig.ended(await rig.accept(kept, { text: "again" }));
  await workspace.hooks.deleteHook({ hookId: kept.id });
  expect(await members()).toEqual([]);
});

test("[NFR] a hook that is deleted while it has deliveries is forgotten once they are gone", async () => {
  const [busy, old] = [await workspace.createHook(), await workspace.createHook()];
  for (const hook of [busy, old]) await rig.ended(await rig.accept(hook));
  const queue = "inbound_hook.tool_queue_item";
  await rig.pool.query(
    `insert into ${queue} (item_id, group_id, member_id, created_at, due_at)
     values (gen_random_uuid(), $1, $2, now(), '2100-01-01')`,
    [workspace.id, busy.id],
  );
  for (const { id } of [busy, old]) await workspace.hooks.deleteHook({ hookId: id });
  expect(await members()).toEqual([String(busy.id)]);
  await maintainPartitions(rig.pool, rig.clock.now());
  expect(await members()).toEqual([String(busy.id)]);
  await rig.pool.query(`delete from ${queue} where member_id = $1`, [busy.id]);
  await maintainPartitions(rig.pool, rig.clock.now());
  expect(await members()).toEqual([]);
});
