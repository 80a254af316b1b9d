import { expect, test } from "vitest";
import { maintainPartitions } from "../src/store/retention.ts";
import { startRunRig } from "./running/run-rig.ts";

const DAY_MS = 86_400_000;

test("[IN-14] deliveries, their runs and their replay keys are deleted after 30 days, and not before", async () => {
  await using rig = await startRunRig();
  const workspace = await rig.newWorkspace();
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
