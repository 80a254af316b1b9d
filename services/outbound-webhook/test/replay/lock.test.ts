import { createWakeUp } from "@toolgate/event-bus/wake-up";
import { ReplaySelection, ReplayState } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runReplays } from "../../src/events/replay-loop.ts";
import { MAX_DUE, MINUTE_MS, type ReplayScene, SECOND_MS, startReplayScene } from "./scene.ts";

/** After this time the lock is released, and the test fails if a step waited for it. */
const LOCK_HELD_MS = 5_000;
/** A little more than three passes. */
const OTHERS = 3_100;

describe("a replay and the deliveries of its workspace", () => {
  let scene: ReplayScene;
  beforeEach(async () => {
    scene = await startReplayScene();
  });
  afterEach(() => scene[Symbol.asyncDispose]());

  async function addDeliveries(endpointId: bigint, count: number): Promise<void> {
    await scene.rig.pool.query(
      `insert into outbound_webhook.delivery (created_at, id, workspace_id, endpoint_id, event_created_at, event_id,
         event_type, kind, status)
       select at, outbound_webhook.delivery_id(at), 'w', $1, at, 'evt_' || n, 'custom.other', 'event', 'delivered'
       from generate_series(1, $2) n, lateral (select $3::timestamptz + n * interval '10 milliseconds' as at) t`,
      [endpointId, count, new Date(scene.rig.clock.now().getTime() - 10 * MINUTE_MS)],
    );
  }

  it("[FAIR] a replay that has found nothing to send does not lock its workspace's queue", async () => {
    const { id } = await scene.backlog(1);
    await addDeliveries(id, OTHERS);
    const range = { ...scene.wholeRange(), selection: ReplaySelection.ALL, types: ["custom.none"] };
    const replayId = await scene.start(id, { range });
    const store = scene.replica();
    const holder = await scene.rig.pool.connect();
    holder.on("error", () => {});
    await holder.query(`begin; set local idle_in_transaction_session_timeout = ${LOCK_HELD_MS}`);
    await holder.query("select from outbound_webhook.queue_group where group_id = 'w' for update");
    let position = 0n;
    for (let pass = 0; pass < 3; pass += 1) {
      scene.rig.clock.advance(SECOND_MS);
      expect(await store.step(scene.rig.clock.now())).toMatchObject({ worked: true, locked: false, made: 0 });
      const replay = await scene.get(replayId);
      expect(replay?.position?.seconds).toBeGreaterThan(position);
      position = replay?.position?.seconds ?? 0n;
    }
    await holder.query("rollback");
    holder.release();
    scene.rig.clock.advance(SECOND_MS);
    expect(await store.step(scene.rig.clock.now())).toMatchObject({ worked: true, locked: true, made: 0 });
    expect(await scene.get(replayId)).toMatchObject({ state: ReplayState.DONE, considered: 0, skipped: 0, sent: 0 });
  });

  it("[FAIR] there is a pause between steps that find nothing to send", async () => {
    const { id } = await scene.backlog(1);
    await addDeliveries(id, OTHERS);
    const range = { ...scene.wholeRange(), selection: ReplaySelection.ALL, types: ["custom.none"] };
    await scene.start(id, { range });
    const now = scene.rig.clock.now();
    const { nextAt } = await scene.replica().step(now);
    expect(nextAt?.getTime()).toBeGreaterThan(now.getTime());
  });

  it("[FAIR] each step that held the lock wakes the dispatchers, even if it made nothing", async () => {
    const { id } = await scene.backlog(10);
    await scene.start(id);
    const stop = new AbortController();
    let announced = 0;
    const errors: unknown[] = [];
    const running = runReplays({
      steps: scene.replica(),
      wakeUp: createWakeUp(),
      announceWork: () => {
        announced += 1;
      },
      now: scene.rig.clock.now,
      signal: stop.signal,
      onError: (error) => errors.push(error),
    });
    await eventually(() => announced > 2);
    stop.abort();
    await running;
    expect(errors).toEqual([]);
    expect(await scene.deliveries()).toHaveLength(MAX_DUE);
  });
});
