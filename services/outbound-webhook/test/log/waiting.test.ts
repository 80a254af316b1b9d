import { Cap, type Delivery, DeliveryStatus, Wait } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { Behaviour } from "@toolgate/testbed/behaviour";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

const MINUTE_MS = 60_000;
const HANG: Behaviour = { hang: "before-status" };
const seconds = (delivery: Delivery | undefined) => Number(delivery?.waitsSince?.seconds);

describe("what a delivery waits for", () => {
  let rig: OutboundRig;
  const behaviours = new Map<string, Behaviour>();
  beforeAll(async () => {
    rig = await startOutboundRig();
    rig.receiver.behave((request) => behaviours.get(request.path) ?? {});
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const list = async (workspaceId: string) => (await rig.deliveries({ workspaceId }).listDeliveries({})).deliveries;
  const when = (workspaceId: string, is: (deliveries: Delivery[]) => boolean) =>
    eventually(async () => {
      const deliveries = await list(workspaceId);
      return is(deliveries) && deliveries;
    });
  const inFlight = (deliveries: Delivery[]) => deliveries.filter(({ waitsFor }) => waitsFor === Wait.IN_FLIGHT).length;

  it("[OUT-11] [FAIR-4] with the endpoint's slots taken, the other deliveries wait for a slot from when they are due", async () => {
    behaviours.set("/hang", HANG);
    const { id: endpointId } = await rig.register("w-slots", "/hang");
    await rig.reportSome("w-slots", 5);
    const deliveries = await when("w-slots", (all) => all.length === 5 && inFlight(all) === 2);
    const waiting = deliveries.filter(({ waitsFor }) => waitsFor === Wait.SLOT);
    expect(waiting).toHaveLength(3);
    for (const delivery of waiting) {
      expect(delivery).toMatchObject({ fullCap: Cap.ENDPOINT, status: DeliveryStatus.PENDING });
      expect(delivery.nextAttemptAt).toBeUndefined();
      expect(seconds(delivery)).toBe(Number(delivery.createdAt?.seconds));
    }
    const client = rig.deliveries({ workspaceId: "w-slots" });
    const backlog = await client.getEndpointBacklog({ endpointId });
    expect(backlog).toMatchObject({
      waiting: 3,
      waitingIsMore: false,
      inFlight: 2,
      failing: false,
      fullCap: Cap.ENDPOINT,
    });
    expect(backlog.oldestDueAt).toEqual(waiting.at(-1)?.waitsSince);
    expect(backlog.nextDueAt).toBeUndefined();
  });

  it("[OUT-11] [FAIR-3] names the workspace's cap when that is reached", async () => {
    for (const name of ["/w1", "/w2", "/w3"]) {
      behaviours.set(name, HANG);
      await rig.register("w-full", name);
    }
    using _stopped = rig.clock.stop();
    await rig.reportSome("w-full", 2);
    const deliveries = await when("w-full", (all) => all.length === 6 && inFlight(all) === 5);
    expect(deliveries.find(({ waitsFor }) => waitsFor === Wait.SLOT)?.fullCap).toBe(Cap.WORKSPACE);
  });

  it("[OUT-11] names the cap of failing endpoints when that is reached", async () => {
    for (const name of ["/f1", "/f2", "/f3"]) {
      behaviours.set(name, { status: 500 });
      await rig.register("w-failing", name, [`custom.${name.slice(1)}`]);
    }
    for (const name of ["f1", "f2", "f3"]) await rig.report({ workspaceId: "w-failing", type: `custom.${name}` });
    await when("w-failing", (all) => all.filter(({ waitsFor }) => waitsFor === Wait.RETRY).length === 3);
    for (const name of ["/f1", "/f2", "/f3"]) behaviours.set(name, HANG);
    for (const name of ["f1", "f2"]) await rig.report({ workspaceId: "w-failing", type: `custom.${name}` });
    await when("w-failing", (all) => inFlight(all) === 2);
    await rig.report({ workspaceId: "w-failing", type: "custom.f3" });
    const [newest] = await when("w-failing", (all) => all.length === 6);
    expect(newest).toMatchObject({ waitsFor: Wait.SLOT, fullCap: Cap.FAILING_ENDPOINTS });
    const client = rig.deliveries({ workspaceId: "w-failing" });
    expect(await client.getEndpointBacklog({ endpointId: newest?.endpointId ?? 0n })).toMatchObject({
      failing: true,
      waiting: 2,
      inFlight: 0,
      fullCap: Cap.FAILING_ENDPOINTS,
    });
  });

  it("[OUT-11] a backlog is counted up to 10,000", async () => {
    const { id: endpointId } = await rig.register("w-backlog", "/backlog");
    await rig.pool.query(
      `insert into outbound_webhook.queue_item (item_id, group_id, member_id, created_at, due_at)
       select gen_random_uuid(), 'w-backlog', $1, now(), now() from generate_series(1, 10001)`,
      [endpointId],
    );
    const client = rig.deliveries({ workspaceId: "w-backlog" });
    expect(await client.getEndpointBacklog({ endpointId })).toMatchObject({ waiting: 10_000, waitingIsMore: true });
  });
});

test("[OUT-11] [OUT-43] waits for its retry from the end of the attempt, then for a slot; the next attempt is never shown in the past", async () => {
  await using rig = await startOutboundRig({ instances: [["manager"], ["fan-out", "dispatcher", "worker"]] });
  rig.receiver.behave(() => ({ status: 503 }));
  const client = rig.deliveries({ workspaceId: "w-retry" });
  const list = async () => (await client.listDeliveries({})).deliveries;
  const { id: endpointId } = await rig.register("w-retry", "/retry");
  await rig.report({ workspaceId: "w-retry" });
  const retrying = await rig.delivery("w-retry", { waitsFor: Wait.RETRY });
  const dueSeconds = Number(retrying.nextAttemptAt?.seconds);
  expect(dueSeconds - seconds(retrying)).toBe(60);
  expect(await client.getEndpointBacklog({ endpointId })).toMatchObject({
    waiting: 1,
    nextDueAt: retrying.nextAttemptAt,
    fullCap: Cap.UNSPECIFIED,
  });
  await rig.services[1]?.drain();
  rig.clock.advance(2 * MINUTE_MS);
  const [due] = await list();
  expect(due).toMatchObject({ waitsFor: Wait.SLOT, fullCap: Cap.UNSPECIFIED, status: DeliveryStatus.RETRYING });
  expect(due?.nextAttemptAt).toBeUndefined();
  expect(seconds(due)).toBe(dueSeconds);
  const { delivery } = await client.getDelivery({ deliveryId: due?.id ?? "" });
  expect(delivery).toMatchObject({ waitsFor: Wait.SLOT });
  expect(delivery?.nextAttemptAt).toBeUndefined();
  expect((await client.getEndpointBacklog({ endpointId })).oldestDueAt).toEqual(due?.waitsSince);
  await rig.pool.query("delete from outbound_webhook.queue_item where item_id = $1", [due?.id]);
  const [forgotten] = await list();
  expect(forgotten).toMatchObject({ waitsFor: Wait.UNSPECIFIED, status: DeliveryStatus.RETRYING });
  expect(forgotten?.nextAttemptAt).toBeUndefined();
});
