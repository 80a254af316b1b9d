import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { UndeliveredOrder, UndeliveredReason } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { codeOf } from "@toolgate/testbed/rpc-errors";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newEvent, type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

describe("what is undelivered", () => {
  let rig: OutboundRig;
  beforeAll(async () => {
    rig = await startOutboundRig();
  });
  beforeEach(() => rig.receiver.behave(() => ({})));
  afterAll(() => rig[Symbol.asyncDispose]());

  const list = async (workspaceId: string, request = {}) =>
    (await rig.undelivered({ workspaceId }).listUndelivered(request)).events;
  const statuses = async (workspaceId: string) => {
    const { rows } = await rig.pool.query(
      "select status from outbound_webhook.delivery where workspace_id = $1 order by created_at, id",
      [workspaceId],
    );
    return rows.map((row) => row.status);
  };
  const ended = (workspaceId: string, expected: string[]) =>
    eventually(async () => {
      expect(await statuses(workspaceId)).toEqual(expected);
    });
  async function deliver(workspaceId: string, status: number, type = "custom.thing"): Promise<string> {
    const before = (await statuses(workspaceId)).length;
    rig.receiver.behave(() => ({ status }));
    const eventId = await rig.report({ workspaceId, type });
    await eventually(async () => (await statuses(workspaceId)).length === before + 1);
    await eventually(async () => (await statuses(workspaceId)).at(-1) !== "pending");
    return eventId;
  }
  const activate = (workspaceId: string, endpointId: bigint, active: boolean) =>
    rig.endpoints({ workspaceId }).updateEndpoint({ endpointId, active });
  const deliveryOf = async (workspaceId: string, eventId: string) =>
    (await rig.deliveries({ workspaceId }).listDeliveries({ eventId })).deliveries.at(-1)?.id ?? "";

  it("[OUT] shows only events that failed, were cancelled or came while the endpoint was inactive, and why", async () => {
    const { id } = await rig.register("w-why", "/why");
    const failed = await deliver("w-why", 410);
    await deliver("w-why", 200);
    const cancelled = await deliver("w-why", 500);
    expect((await list("w-why")).map((event) => event.eventId)).toEqual([failed]);
    await activate("w-why", id, false);
    rig.clock.advance(SECOND_MS);
    const skipped = await rig.report({ workspaceId: "w-why" });
    const events = await eventually(async () => {
      const found = await list("w-why", { endpointId: id, order: UndeliveredOrder.OLDEST_FIRST });
      return found.length === 3 && found;
    });
    const of = (eventId: string) => events.find((event) => event.eventId === eventId);
    expect(of(failed)).toMatchObject({
      eventType: "custom.thing",
      endpointId: id,
      reason: UndeliveredReason.FAILED,
      error: "gone",
      responseCode: 410,
      deliveryIds: [await deliveryOf("w-why", failed)],
    });
    expect(of(cancelled)).toMatchObject({
      reason: UndeliveredReason.CANCELLED,
      error: "status 500",
      responseCode: 500,
      deliveryIds: [await deliveryOf("w-why", cancelled)],
    });
    expect(of(skipped)).toMatchObject({
      reason: UndeliveredReason.SKIPPED,
      error: "",
      responseCode: 0,
      deliveryIds: [],
    });
    expect(of(skipped)?.undeliveredAt).toEqual(of(skipped)?.eventAt);
    expect(of(failed)?.undeliveredAt).toBeDefined();
  });

  it("[OUT-51] a resend removes the event from the list while it is being sent, and permanently when it succeeds", async () => {
    await rig.register("w-resent", "/resent");
    const eventId = await deliver("w-resent", 410);
    const deliveryId = await deliveryOf("w-resent", eventId);
    const client = rig.deliveries({ workspaceId: "w-resent" });
    rig.receiver.behave(() => ({ status: 500 }));
    await client.resendDelivery({ deliveryId });
    expect(await list("w-resent")).toEqual([]);
    await ended("w-resent", ["failed", "retrying"]);
    expect(await list("w-resent")).toEqual([]);
    rig.receiver.behave(() => ({ status: 410 }));
    rig.clock.advance(HOUR_MS);
    rig.wake();
    await ended("w-resent", ["failed", "failed"]);
    const again = await list("w-resent");
    const all = (await client.listDeliveries({})).deliveries.map((delivery) => delivery.id).toReversed();
    expect(again).toMatchObject([{ eventId, deliveryIds: all, reason: UndeliveredReason.FAILED, error: "gone" }]);
    rig.receiver.behave(() => ({}));
    await client.resendDelivery({ deliveryId });
    await ended("w-resent", ["failed", "failed", "delivered"]);
    expect(await list("w-resent")).toEqual([]);
  });

  it("[OUT-51] an event that was delivered once is not undelivered, even if another of its deliveries fails", async () => {
    await rig.register("w-through", "/through");
    const late = await deliver("w-through", 500);
    const first = await deliver("w-through", 200);
    const client = rig.deliveries({ workspaceId: "w-through" });
    await client.resendDelivery({ deliveryId: await deliveryOf("w-through", late) });
    await ended("w-through", ["retrying", "delivered", "delivered"]);
    rig.receiver.behave(() => ({ status: 410 }));
    await client.resendDelivery({ deliveryId: await deliveryOf("w-through", first) });
    rig.clock.advance(HOUR_MS);
    rig.wake();
    await ended("w-through", ["failed", "delivered", "delivered", "failed"]);
    expect(await list("w-through")).toEqual([]);
  });

  it.each([
    ["waits for its retry", { status: 500 }, HOUR_MS],
    ["is in flight", { delayMs: 2_000 }, 0],
  ])(
    "[OUT-51] a first delivery that %s while a resend fails settles the event when it arrives",
    async (name, behaviour, ms) => {
      const workspaceId = `w-settled-${ms}`;
      await rig.register(workspaceId, `/${workspaceId}`);
      rig.receiver.behave(() => behaviour);
      const eventId = await rig.report({ workspaceId });
      await eventually(() => rig.requestsTo(`/${workspaceId}`).length === 1);
      await ended(workspaceId, [ms > 0 ? "retrying" : "pending"]);
      rig.receiver.behave(() => ({ status: 410 }));
      const deliveryId = await deliveryOf(workspaceId, eventId);
      await rig.deliveries({ workspaceId }).resendDelivery({ deliveryId });
      await eventually(async () => (await statuses(workspaceId)).at(1) === "failed");
      rig.receiver.behave(() => ({}));
      rig.clock.advance(ms);
      rig.wake();
      await ended(workspaceId, ["delivered", "failed"]);
      expect(await list(workspaceId), name).toEqual([]);
    },
  );

  it("[WMGMT] pages through all endpoints of the workspace once, in both orders", async () => {
    const ids = [await rig.register("w-pages", "/pages-1"), await rig.register("w-pages", "/pages-2")];
    for (const { id } of ids) await activate("w-pages", id, false);
    const at = (seconds: number) => new Date(Math.floor(rig.clock.now().getTime() / 1000) * 1000 - seconds * SECOND_MS);
    const events = Array.from({ length: 15 }, (_, index) => newEvent({ workspaceId: "w-pages" }, at(60 + (index % 5))));
    await rig.reportMany(events);
    const newest = await eventually(async () => {
      const found = await list("w-pages", { pageSize: 100 });
      return found.length === 30 && found;
    });
    const names = (found: typeof newest) => found.map((event) => `${event.eventId} ${event.endpointId}`);
    expect(new Set(names(newest)).size).toBe(30);
    const times = newest.map((event) => Number(event.eventAt?.seconds));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    const client = rig.undelivered({ workspaceId: "w-pages" });
    for (const order of [UndeliveredOrder.NEWEST_FIRST, UndeliveredOrder.OLDEST_FIRST]) {
      const seen: string[] = [];
      let pageToken = "";
      do {
        const page = await client.listUndelivered({ order, pageSize: 7, pageToken });
        seen.push(...names(page.events));
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      expect(seen).toEqual(order === UndeliveredOrder.NEWEST_FIRST ? names(newest) : names(newest).toReversed());
    }
    const counts = (await client.countUndelivered({})).counts;
    expect(counts).toMatchObject(ids.map(({ id }) => ({ endpointId: id, events: 15, more: false })));
  });

  it("[WMGMT] filters by endpoint, type and time of the event", async () => {
    const one = await rig.register("w-filter", "/filter-1", ["custom.a", "custom.b"]);
    const two = await rig.register("w-filter", "/filter-2", ["custom.b"]);
    for (const { id } of [one, two]) await activate("w-filter", id, false);
    const start = new Date(Math.floor(rig.clock.now().getTime() / 1000) * 1000 - HOUR_MS);
    const made = ["custom.a", "custom.b", "custom.a"].map((type, index) =>
      newEvent({ workspaceId: "w-filter", type }, new Date(start.getTime() + index * SECOND_MS)),
    );
    await rig.reportMany(made);
    await eventually(async () => (await list("w-filter")).length === 4);
    const ids = async (request: object) =>
      (await list("w-filter", { order: UndeliveredOrder.OLDEST_FIRST, ...request })).map((event) => event.eventId);
    const [a, b, c] = made.map((event) => event.eventId);
    const time = (seconds: number) => timestampFromDate(new Date(start.getTime() + seconds * SECOND_MS));
    expect(await ids({ endpointId: two.id })).toEqual([b]);
    expect(await ids({ types: ["custom.a"] })).toEqual([a, c]);
    expect(await ids({ types: ["custom.a", "custom.b"], endpointId: one.id })).toEqual([a, b, c]);
    expect(await ids({ from: time(1), to: time(2), endpointId: one.id })).toEqual([b]);
    expect(await ids({ from: time(1), types: ["custom.a"] })).toEqual([c]);
  });

  it.each([
    ["a page token of another list", { pageToken: "x" }],
    ["a page size over 100", { pageSize: 101 }],
    ["an unknown order", { order: 9 }],
    ["a wildcard", { types: ["custom.*"] }],
    ["21 types", { types: Array.from({ length: 21 }, (_, index) => `custom.${index}`) }],
    ["an invalid time", { from: { seconds: 10n ** 15n, nanos: 0 } }],
  ])("[WMGMT] refuses %s as invalid", async (_name, request) => {
    expect(await list("w-invalid", request).catch(codeOf)).toBe(Code.InvalidArgument);
  });

  it("[WMGMT] deleted endpoints are left out", async () => {
    const { id } = await rig.register("w-mine", "/mine");
    await deliver("w-mine", 410);
    expect(await list("w-mine")).toHaveLength(1);
    await rig.endpoints({ workspaceId: "w-mine" }).deleteEndpoint({ endpointId: id });
    expect(await list("w-mine")).toEqual([]);
    expect(await list("w-mine", { endpointId: id }).catch(codeOf)).toBe(Code.NotFound);
  });
});
