import { ReplayState } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OutboundRig } from "../outbound-rig.ts";
import { eventsOf, MAX_DUE, MINUTE_MS, type ReplayScene, SECOND_MS, startReplayScene } from "./scene.ts";

describe("the progress of a replay", () => {
  let scene: ReplayScene;
  let rig: OutboundRig;
  beforeEach(async () => {
    scene = await startReplayScene();
    rig = scene.rig;
  });
  afterEach(() => scene[Symbol.asyncDispose]());

  it("[OUT] a cancelled replay makes no more deliveries and cancels the waiting ones, but not those in flight", async () => {
    const { id } = await scene.backlog(30);
    const answer = Promise.withResolvers<void>();
    rig.receiver.behave((_, index) => (index === 0 ? { status: 500 } : { after: answer.promise }));
    const replayId = await scene.start(id);
    await rig.start(["dispatcher", "worker"]);
    await eventually(async () => {
      const found = await scene.deliveries();
      return rig.requestsTo("/w").length > 1 && found.some((delivery) => delivery.status === "retrying");
    });
    const { replay } = await scene.client().cancelReplay({ replayId });
    expect(replay).toMatchObject({ state: ReplayState.CANCELLED, cancelledBy: "mia@acme.example" });
    const made = (await scene.deliveries()).length;
    answer.resolve();
    await eventually(async () => (await scene.get(replayId))?.outstanding === 0);
    const after = await scene.deliveries();
    expect(after).toHaveLength(made);
    const count = (status: string) => after.filter((delivery) => delivery.status === status).length;
    const inFlight = rig.requestsTo("/w").length - 1;
    expect(inFlight).toBeGreaterThan(0);
    expect(count("delivered")).toBe(inFlight);
    expect(count("cancelled")).toBe(made - inFlight);
    expect(made).toBeGreaterThan(inFlight);
    expect(await scene.get(replayId)).toMatchObject({ sent: made, delivered: inFlight, cancelled: made - inFlight });
    expect(await scene.undelivered()).toBe(30 - inFlight);
    expect((await scene.client().cancelReplay({ replayId })).replay?.finishedAt).toEqual(replay?.finishedAt);
    expect((await rig.pool.query("select from outbound_webhook.queue_item")).rowCount).toBe(0);
  });

  it("[OUT] pauses while the endpoint is inactive, then continues and repeats the deliveries that were cancelled", async () => {
    const { id, eventIds } = await scene.backlog(30);
    rig.receiver.behave((_, index) => (index < 3 ? { status: 500 } : {}));
    const replayId = await scene.start(id, { ratePerSecond: 4 });
    await rig.start(["dispatcher", "worker"]);
    await eventually(async () => (await scene.deliveries()).some((delivery) => delivery.status === "retrying"));
    await scene.setActive(id, false);
    expect((await scene.get(replayId))?.state).toBe(ReplayState.PAUSED);
    expect((await scene.get(replayId))?.estimatedEnd).toBeUndefined();
    const made = (await scene.deliveries()).length;
    rig.clock.advance(MINUTE_MS);
    await eventually(async () => (await scene.get(replayId))?.outstanding === 0);
    expect(await scene.deliveries()).toHaveLength(made);
    await scene.setActive(id, true);
    expect((await scene.get(replayId))?.state).toBe(ReplayState.RUNNING);
    const replay = await eventually(async () => {
      rig.clock.advance(SECOND_MS);
      const found = await scene.get(replayId);
      return found?.state === ReplayState.DONE && found;
    });
    expect(replay).toMatchObject({ considered: 30, delivered: 30, failed: 0 });
    expect(replay.cancelled).toBeGreaterThan(0);
    expect(replay.sent).toBe(30 + replay.cancelled);
    const delivered = (await scene.deliveries()).filter((delivery) => delivery.status === "delivered");
    expect(delivered.map((delivery) => delivery.event_id).toSorted()).toEqual(eventIds.toSorted());
    expect(await scene.undelivered()).toBe(0);
  });

  it("[OUT] leaves out events that were delivered since it began", async () => {
    const { id } = await scene.backlog(8);
    rig.receiver.behave(() => ({ status: 410 }));
    const service = await rig.start(["dispatcher", "worker"]);
    const refused = await rig.report({ workspaceId: "w" });
    await eventually(async () => (await scene.undelivered()) === 9);
    await service[Symbol.asyncDispose]();
    rig.receiver.behave(() => ({}));
    rig.clock.advance(2 * SECOND_MS);
    const store = scene.replica();
    const replayId = await scene.start(id);
    expect(await store.step(rig.clock.now())).toMatchObject({ made: MAX_DUE });
    const log = rig.deliveries({ workspaceId: "w" });
    const { deliveries: found } = await log.listDeliveries({ eventId: refused });
    await log.resendDelivery({ deliveryId: found[0]?.id ?? "" });
    await rig.start(["dispatcher", "worker"]);
    expect(await scene.done(replayId)).toMatchObject({ considered: 9, sent: 8, delivered: 8, skipped: 1 });
    const received = eventsOf(rig.requestsTo("/w"));
    expect(received.filter((eventId) => eventId === refused)).toHaveLength(2);
    expect(await scene.undelivered()).toBe(0);
  });

  it("[OUT] ends when its endpoint is deleted", async () => {
    const { id } = await scene.backlog(10);
    const store = scene.replica();
    const replayId = await scene.start(id);
    await store.step(rig.clock.now());
    await rig.endpoints({ workspaceId: "w" }).deleteEndpoint({ endpointId: id });
    expect((await scene.get(replayId))?.state).toBe(ReplayState.CANCELLED);
    rig.clock.advance(SECOND_MS);
    await store.step(rig.clock.now());
    expect(await scene.get(replayId)).toMatchObject({
      sent: MAX_DUE,
      cancelled: MAX_DUE,
      cancelledBy: "",
      outstanding: 0,
    });
    expect((await scene.get(replayId))?.finishedAt).toBeDefined();
    rig.clock.advance(MINUTE_MS);
    expect(await store.step(rig.clock.now())).toMatchObject({ worked: false, nextAt: undefined });
  });

  it("[OUT] with 100 deliveries waiting for a retry, it makes no more until some have ended", async () => {
    const { id } = await scene.backlog(110);
    const store = scene.replica();
    await scene.start(id);
    let made = 0;
    for (let time = 0; time < 110 / MAX_DUE; time += 1) {
      rig.clock.advance(SECOND_MS);
      ({ made } = await store.step(rig.clock.now()));
      await rig.pool.query("update outbound_webhook.delivery set status = 'retrying'");
      await rig.pool.query("update outbound_webhook.queue_item set due_at = 'infinity'");
    }
    expect(made).toBe(0);
    expect(await scene.deliveries()).toHaveLength(100);
    await rig.pool.query("update outbound_webhook.delivery set status = 'delivered'");
    await rig.pool.query("delete from outbound_webhook.queue_item");
    rig.clock.advance(MINUTE_MS);
    expect(await store.step(rig.clock.now())).toMatchObject({ made: MAX_DUE });
  });
});
