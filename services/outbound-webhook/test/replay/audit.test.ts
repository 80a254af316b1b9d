import { ReplayState } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { expect, test } from "vitest";
import { startReplayScene } from "./scene.ts";

test("[WMGMT] [MGMT] a replay is started and cancelled together with its audit entry, or not at all", async () => {
  await using scene = await startReplayScene();
  const { pool } = scene.rig;
  const { id } = await scene.backlog(1);
  const auditFails = () =>
    pool.query("alter table outbound_webhook.audit_outbox add constraint no_room check (false) not valid");
  const auditWorks = () => pool.query("alter table outbound_webhook.audit_outbox drop constraint no_room");

  await auditFails();
  await expect(scene.start(id)).rejects.toThrow("internal error");
  expect((await scene.client().listReplays({})).replays).toEqual([]);
  await auditWorks();
  const replayId = await scene.start(id);
  await auditFails();
  await expect(scene.client().cancelReplay({ replayId })).rejects.toThrow("internal error");
  expect((await scene.get(replayId))?.state).toBe(ReplayState.RUNNING);
  await auditWorks();
});
