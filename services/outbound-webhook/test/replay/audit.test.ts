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

test("[WMGMT] [MGMT] cancelling a replay of another workspace leaves no audit entry", async () => {
  await using scene = await startReplayScene();
  const { pool } = scene.rig;
  // The relay empties the outbox.
  await pool.query(`create table written (id uuid);
    create function note_written() returns trigger language plpgsql as $$ begin insert into written values (new.id); return new; end $$;
    create trigger note_written after insert on outbound_webhook.audit_outbox for each row execute function note_written()`);
  const written = async () => (await pool.query("select from written")).rowCount;
  const { id } = await scene.backlog(1);
  const replayId = await scene.start(id);
  const before = await written();
  await expect(scene.client("other").cancelReplay({ replayId })).rejects.toThrow("no such replay");
  expect(await written()).toBe(before);
  expect((await scene.client().cancelReplay({ replayId })).replay?.state).toBe(ReplayState.CANCELLED);
  expect(await written()).toBe((before ?? 0) + 1);
});
