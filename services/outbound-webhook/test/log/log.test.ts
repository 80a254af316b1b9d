import { Code } from "@connectrpc/connect";
import { DeliveryStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { codeOf } from "@toolgate/testbed/rpc-errors";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

describe("the delivery log", () => {
  let rig: OutboundRig;
  beforeAll(async () => {
    rig = await startOutboundRig();
  });
  beforeEach(() => rig.receiver.behave(() => ({})));
  afterAll(() => rig[Symbol.asyncDispose]());

  const list = async (workspaceId: string, request = {}) =>
    (await rig.deliveries({ workspaceId }).listDeliveries(request)).deliveries;
  const finished = (workspaceId: string, count: number) =>
    eventually(async () => {
      const deliveries = await list(workspaceId, { status: DeliveryStatus.DELIVERED, pageSize: 100 });
      return deliveries.length === count && deliveries;
    });

  it("[OUT] pages through all deliveries once, newest first, while new ones come in", async () => {
    await rig.register("w-pages", "/pages");
    await rig.reportSome("w-pages", 25);
    const all = await finished("w-pages", 25);
    const client = rig.deliveries({ workspaceId: "w-pages" });
    const seen: string[] = [];
    let pageToken = "";
    do {
      const page = await client.listDeliveries({ pageSize: 7, pageToken });
      seen.push(...page.deliveries.map((delivery) => delivery.id));
      pageToken = page.nextPageToken;
      if (seen.length === 7) await rig.report({ workspaceId: "w-pages" });
    } while (pageToken !== "");
    expect(seen).toEqual(all.map((delivery) => delivery.id));
    expect(seen).toEqual(seen.toSorted().toReversed());
  });

  it("[OUT-52] [OUT-53] [WMGMT-9] a resend is a new delivery of the same event and bytes, and keeps the request id", async () => {
    await rig.register("w-resend", "/resend");
    const requestId = "the-id-of-the-call";
    const eventId = await rig.report({ workspaceId: "w-resend", requestId });
    const [original] = await finished("w-resend", 1);
    const client = rig.deliveries({ workspaceId: "w-resend" });
    const { deliveryId } = await client.resendDelivery({ deliveryId: original?.id ?? "" });
    const again = await client.resendDelivery({ deliveryId });
    const all = await finished("w-resend", 3);
    expect(new Set(all.map((delivery) => delivery.id))).toEqual(new Set([original?.id, deliveryId, again.deliveryId]));
    expect(all.map((delivery) => delivery.eventId)).toEqual([eventId, eventId, eventId]);
    for (const { id } of all) {
      expect((await client.getDelivery({ deliveryId: id })).delivery).toMatchObject({ requestId });
    }
    const [first, ...others] = rig.requestsTo("/resend");
    for (const other of others) expect(other.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
    expect(rig.requestsTo("/resend").map((request) => request.headers["x-service-attempt"])).toEqual(["1", "1", "1"]);
  });

  it("[OUT-51] a resend works while the original still waits for its retry, and is refused when inactive", async () => {
    const { id } = await rig.register("w-early", "/early");
    rig.receiver.behave(() => ({ status: 500 }));
    await rig.report({ workspaceId: "w-early" });
    const { id: deliveryId } = await rig.delivery("w-early", { status: DeliveryStatus.RETRYING });
    rig.receiver.behave(() => ({}));
    const client = rig.deliveries({ workspaceId: "w-early" });
    await client.resendDelivery({ deliveryId });
    await finished("w-early", 1);
    expect((await client.getDelivery({ deliveryId })).delivery?.status).toBe(DeliveryStatus.RETRYING);
    await rig.endpoints({ workspaceId: "w-early" }).updateEndpoint({ endpointId: id, active: false });
    expect(await client.resendDelivery({ deliveryId }).catch(codeOf)).toBe(Code.FailedPrecondition);
  });

  it("[OUT-54] [OUT-55] [EVT-18] [WMGMT-8] a test event goes to its endpoint alone, active and subscribed or not, and is in the log", async () => {
    await rig.register("w-test", "/test-other", ["custom.*"]);
    const { id } = await rig.register("w-test", "/test-this", ["tool.completed"]);
    const endpoints = rig.endpoints({ workspaceId: "w-test" });
    await endpoints.updateEndpoint({ endpointId: id, active: false });
    const { deliveryId } = await endpoints.sendTestEvent({ endpointId: id });
    const [delivery] = await finished("w-test", 1);
    expect(delivery).toMatchObject({ id: deliveryId, eventType: "webhook.test", endpointId: id });
    expect(rig.requestsTo("/test-this")).toHaveLength(1);
    // One transaction made its deliveries, so there will be no others.
    expect(await list("w-test")).toHaveLength(1);
    expect(rig.requestsTo("/test-other")).toEqual([]);
  });

  it("[OUT-48] a failed test event is not retried, not undelivered and does not count as a failure, and neither do its resends", async () => {
    const { id } = await rig.register("w-test-fails", "/test-fails");
    rig.receiver.behave(() => ({ status: 500 }));
    const endpoints = rig.endpoints({ workspaceId: "w-test-fails" });
    const { deliveryId } = await endpoints.sendTestEvent({ endpointId: id });
    for (let count = 0; count < 5; count += 1)
      await rig.deliveries({ workspaceId: "w-test-fails" }).resendDelivery({ deliveryId });
    await eventually(async () => (await list("w-test-fails", { status: DeliveryStatus.FAILED })).length === 6);
    const { endpoint } = await endpoints.getEndpoint({ endpointId: id });
    expect(endpoint).toMatchObject({ active: true, failuresInARow: 0 });
    expect((await rig.undelivered({ workspaceId: "w-test-fails" }).listUndelivered({})).events).toEqual([]);
  });

  it("[OUT] log and payload of a deleted endpoint stay readable", async () => {
    const { id } = await rig.register("w-deleted", "/deleted");
    await rig.report({ workspaceId: "w-deleted" });
    const [delivery] = await finished("w-deleted", 1);
    await rig.endpoints({ workspaceId: "w-deleted" }).deleteEndpoint({ endpointId: id });
    const found = await rig.deliveries({ workspaceId: "w-deleted" }).getDelivery({ deliveryId: delivery?.id ?? "" });
    expect(found.payload).toContain('"answer":42');
    expect(found.attemptLog).toHaveLength(1);
  });
});
