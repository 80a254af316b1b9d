import type { Pool } from "@toolgate/postgres/pool";
import { eventually } from "@toolgate/testbed/eventually";
import { lockGroup } from "@toolgate/testbed/locked-group";
import { expect, it } from "vitest";
import type { TurnRef } from "../../src/store/turns/start.ts";
import { type ChatRig, startChatRig } from "../chat-rig.ts";
import { say } from "../scripted-model.ts";

const QUIET = { workspaceId: "quiet-workspace", workspace: "quiet" };

/** Of the rig's workspace, which must have had a turn. */
const lockQueue = ({ pool, tools }: ChatRig) => lockGroup(pool, "chat.chat_queue", tools.workspaceId);

/** When each transaction that waits for a lock began, and whether it is the service's or the rig's own. */
async function waitingForLock(pool: Pool): Promise<{ began: string; of: "chat" | "rig" }[]> {
  const { rows } = await pool.query(
    `select xact_start::text as began, application_name as of from pg_stat_activity
     where wait_event_type = 'Lock' and datname = current_database() order by xact_start`,
  );
  return rows;
}

/** Turns that run until `finish` is called with their message. */
async function running(rig: ChatRig, noisy: number): Promise<{ noisy: TurnRef[]; quiet: TurnRef }> {
  const turns: TurnRef[] = [];
  for (let number = 0; number < noisy; number += 1) turns.push(await rig.send(`noisy-${number}`, "Noise"));
  const quiet = await rig.send("quiet", "Hush", QUIET);
  await rig.model.call(noisy);
  return { noisy: turns, quiet };
}

function finish(rig: ChatRig, message: string): void {
  for (const call of rig.model.calls) {
    const [asked] = call.request.messages;
    if (asked?.role !== "user" || asked.text !== message || call.closed) continue;
    call.say("Here.");
  }
}

it("[NFR] while one workspace's queue is locked, turns of others start, end and are taken over; its own are not lost", async () => {
  await using rig = await startChatRig();
  const { noisy, quiet } = await running(rig, 12);
  const lost = await rig.send("lost", "Gone", QUIET);
  await rig.model.call(13);
  await using lock = await lockQueue(rig);
  finish(rig, "Noise");
  const starts = Array.from({ length: 8 }, (_, number) => rig.turns.start(rig.request(`late-${number}`, "Late")));
  const settled = Promise.allSettled(starts);
  await eventually(async () => (await waitingForLock(rig.pool)).length > 0);
  finish(rig, "Hush");
  await rig.untilDone(quiet);
  const waiting = await waitingForLock(rig.pool);
  // The service ends turns, the rig starts them.
  for (const name of ["chat", "rig"]) expect(waiting.filter(({ of }) => of === name).length).toBeLessThanOrEqual(3);
  const started = await rig.send("started", "Start", QUIET);
  await rig.model.call(14);
  finish(rig, "Start");
  await rig.untilDone(started);
  await rig.pool.query(
    "update chat.turn set lease_token = gen_random_uuid(), lease_until = now() - interval '1 minute' where id = any($1)",
    [[lost.id, noisy[0]?.id]],
  );
  await rig.model.call(15);
  finish(rig, "Gone");
  await rig.untilDone(lost);
  for (const turn of noisy) expect(await rig.status(turn)).toBe("running");
  rig.model.answer(say("Again."));
  await lock.disposeAsync();
  await settled;
  for (const turn of noisy) await rig.untilDone(turn);
  for (const turn of noisy) expect(await rig.status(turn)).toBe("completed");
});

it("[NFR] leases are renewed while all connections of the queue wait for a lock", async () => {
  await using rig = await startChatRig({ config: { databaseConnections: 2 } });
  const { quiet } = await running(rig, 4);
  await using _lock = await lockQueue(rig);
  finish(rig, "Noise");
  let before: { waiting: string; leaseUntil: Date } | undefined;
  await eventually(async () => {
    const waiting = await waitingForLock(rig.pool);
    const { rows } = await rig.pool.query(`select lease_until as "leaseUntil" from chat.turn where id = $1`, [
      quiet.id,
    ]);
    const now = { waiting: waiting.map(({ began }) => began).join(), leaseUntil: rows[0].leaseUntil };
    // The same two transactions as before have kept both connections.
    if (before?.waiting === now.waiting) return now.leaseUntil > before.leaseUntil;
    before = waiting.length === 2 ? now : undefined;
    return false;
  });
});
