import { DeliveryStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { ReplaySelection, ReplayState } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { lockGroup } from "@toolgate/testbed/locked-group";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { QUEUE_TABLES } from "../../src/store/queue.ts";
import type { OutboundRig } from "../outbound-rig.ts";
import { eventsOf, MAX_DUE, type ReplayScene, SECOND_MS, startReplayScene } from "./scene.ts";

describe("the steps of a replay", () => {
  let scene: ReplayScene;
  let rig: OutboundRig;
  beforeEach(async () => {
    scene = await startReplayScene();
    rig = scene.rig;
  });
  afterEach(() => scene[Symbol.asyncDispose]());

  it("[FAIR] replicas that compete for a replay make each delivery once, and none waits for the lock of another", async () => {
    const { id, eventIds } = await scene.backlog(40);
    const replayId = await scene.start(id);
    const replicas = [scene.replica(), scene.replica(), scene.replica()];
    await rig.start(["dispatcher", "worker"]);
    await eventually(
      async () => {
        await Promise.all(replicas.map((store) => store.step(rig.clock.now())));
        return (await scene.get(replayId))?.state === ReplayState.DONE;
      },
      { everyMs: 1 },
    );
    expect(await scene.get(replayId)).toMatchObject({ considered: 40, sent: 40, delivered: 40 });
    expect((await scene.deliveries()).map((delivery) => delivery.event_id).toSorted()).toEqual(eventIds.toSorted());
    const holder = await rig.pool.connect();
    await holder.query("begin");
    const next = await scene.start(id);
    await holder.query("select from outbound_webhook.replay where id = $1 for update", [next]);
    expect(await replicas[0]?.step(rig.clock.now())).toMatchObject({ worked: false, made: 0 });
    await holder.query("rollback");
    holder.release();
  });

  it("[FAIR] a replay has at most twice the endpoint's slots due at any time, so that a new event waits for no more", async () => {
    const { id } = await scene.backlog(20);
    const store = scene.replica();
    await scene.start(id);
    expect(await store.step(rig.clock.now())).toMatchObject({ made: MAX_DUE });
    for (let step = 0; step < 5; step += 1) {
      rig.clock.advance(SECOND_MS);
      expect(await store.step(rig.clock.now())).toMatchObject({ worked: true, made: 0 });
    }
    const live = await rig.report({ workspaceId: "w" });
    await eventually(async () => (await scene.deliveries()).length === MAX_DUE + 1);
    await rig.start(["worker", "dispatcher"]);
    await eventually(() => eventsOf(rig.requestsTo("/w")).includes(live));
    expect(eventsOf(rig.requestsTo("/w")).indexOf(live)).toBeLessThanOrEqual(MAX_DUE + 1);
  });

  it("[FAIR] a rate of two a second makes two deliveries, and the next two a second later", async () => {
    const { id } = await scene.backlog(6);
    const store = scene.replica();
    const replayId = await scene.start(id, { ratePerSecond: 2 });
    const now = rig.clock.now();
    const at = (ms: number) => new Date(now.getTime() + ms);
    expect(await store.step(at(0))).toMatchObject({ worked: true, made: 2, nextAt: at(SECOND_MS) });
    expect(await store.step(at(SECOND_MS - 1))).toMatchObject({ worked: false, made: 0 });
    await rig.start(["dispatcher", "worker"]);
    expect(await scene.done(replayId)).toMatchObject({ sent: 6, delivered: 6 });
  });

  it("[FAIR] a replay whose step fails is postponed and does not delay the others", async () => {
    const { id } = await scene.backlog(2);
    const { id: other } = await rig.register("v", "/v");
    const replayId = await scene.start(id);
    const { replayId: otherId } = await scene.client("v").startReplay({ endpointId: other, range: scene.wholeRange() });
    await rig.pool.query("update outbound_webhook.replay set cursor_id = 'ee' where id = $1", [replayId]);
    await rig.pool.query("update outbound_webhook.replay set everything = true where id = $1", [replayId]);
    await rig.start(["dispatcher", "worker"]);
    await eventually(
      async () => (await scene.client("v").getReplay({ replayId: otherId })).replay?.state === ReplayState.DONE,
    );
    expect((await scene.get(replayId))?.state).toBe(ReplayState.RUNNING);
  });

  it("[FAIR] all replays of a locked workspace are postponed at once and do not delay the others, and end afterwards", async () => {
    const { id } = await scene.backlog(2);
    const replayIds = [await scene.start(id)];
    for (const path of ["/2", "/3", "/4", "/5"]) replayIds.push(await scene.start((await rig.register("w", path)).id));
    const { id: other } = await rig.register("v", "/v");
    rig.clock.advance(1);
    const { replayId: otherId } = await scene.client("v").startReplay({ endpointId: other, range: scene.wholeRange() });
    await using lock = await lockGroup(rig.pool, QUEUE_TABLES, "w");
    await rig.start(["dispatcher", "worker"]);
    await eventually(
      async () => (await scene.client("v").getReplay({ replayId: otherId })).replay?.state === ReplayState.DONE,
    );
    const steps = "select distinct next_step_at from outbound_webhook.replay where workspace_id = 'w'";
    expect((await rig.pool.query(steps)).rows).toHaveLength(1);
    await lock.disposeAsync();
    rig.clock.advance(10 * SECOND_MS);
    for (const replayId of replayIds) await scene.done(replayId);
    expect(await scene.get(replayIds[0] ?? 0n)).toMatchObject({ sent: 2, delivered: 2 });
  });

  it("[OUT] sends everything once over many steps, with deliveries and skipped events of the same time", async () => {
    const { id, eventIds } = await scene.backlog(12);
    await rig.start(["dispatcher", "worker"]);
    await rig.reportSome("w", 12);
    await eventually(
      async () => (await scene.deliveries()).filter(({ status }) => status === "delivered").length === 12,
    );
    rig.clock.advance(2 * SECOND_MS);
    const range = { ...scene.wholeRange(), selection: ReplaySelection.ALL };
    const replayId = await scene.start(id, { range });
    expect(await scene.done(replayId)).toMatchObject({ considered: 24, sent: 24, delivered: 24, eventsAtStart: 24 });
    const again = (await scene.deliveries()).filter((delivery) => delivery.kind === "replay");
    const live = (await scene.deliveries()).filter((delivery) => delivery.kind === "event");
    const expected = [...eventIds, ...live.map((delivery) => delivery.event_id)];
    expect(again.map((delivery) => delivery.event_id).toSorted()).toEqual(expected.toSorted());
    const list = await rig.deliveries({ workspaceId: "w" }).listDeliveries({ status: DeliveryStatus.DELIVERED });
    expect(list.deliveries).toHaveLength(36);
  });
});
