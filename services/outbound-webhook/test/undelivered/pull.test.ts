import { Code } from "@connectrpc/connect";
import { UndeliveredReason, UndeliveredState } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { codeOf } from "@toolgate/testbed/rpc-errors";
import { verify } from "@toolgate/webhook-signing/verify";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newEvent, type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

const HOUR_MS = 3_600_000;

describe("the pull of undelivered events", () => {
  let rig: OutboundRig;
  beforeAll(async () => {
    rig = await startOutboundRig();
  });
  beforeEach(() => rig.receiver.behave(() => ({ status: 410 })));
  afterAll(() => rig[Symbol.asyncDispose]());

  const client = (workspaceId: string) => rig.undelivered({ workspaceId, email: "pull@acme.example" });
  async function undelivered(workspaceId: string, count: number): Promise<void> {
    await eventually(async () => (await client(workspaceId).listUndelivered({})).events.length === count);
  }
  /** An event that fails at the first attempt. */
  async function failing(workspaceId: string, count: number, event = {}): Promise<string> {
    const eventId = await rig.report({ workspaceId, ...event });
    await undelivered(workspaceId, count);
    return eventId;
  }

  it("[OUT-22] [OUT-28] returns the exact bytes with signatures that verify like those of a delivery", async () => {
    const { id, secret } = await rig.register("w-bytes", "/bytes");
    const dataJson = '{"text":"Zoë – \\u00e9 \\ud83d\\ude00 \\"quoted\\"","n":1.50}';
    const eventId = await failing("w-bytes", 1, { dataJson, hop: 2 });
    const { events } = await client("w-bytes").pullUndelivered({ endpointId: id });
    const [event] = events;
    const [request] = rig.requestsTo("/bytes");
    expect(event).toMatchObject({ eventId, eventType: "custom.thing", reason: UndeliveredReason.FAILED });
    expect(Buffer.from(event?.body ?? "").equals(request?.body ?? Buffer.alloc(0))).toBe(true);
    const headers = event?.headers ?? {};
    expect(headers).toMatchObject({
      "x-service-event": "custom.thing",
      "x-service-hop": "2",
      "content-type": "application/json",
      "webhook-id": eventId,
    });
    expect(headers["x-service-delivery"]).toBeUndefined();
    expect(headers["x-service-attempt"]).toBeUndefined();
    const now = Math.floor(rig.clock.now().getTime() / 1000);
    const header = headers["x-service-signature"] ?? "";
    expect(verify({ secret, header, body: event?.body ?? "", now })).toMatchObject({ ok: true });
    expect(new Webhook(secret).verify(event?.body ?? "", headers)).toMatchObject({ id: eventId });
    expect(() => new Webhook(secret).verify(`${event?.body} `, headers)).toThrow();
  });

  it("[OUT-9] signs with the current secret, and works while the endpoint is inactive", async () => {
    const { id, secret } = await rig.register("w-secret", "/secret");
    const endpoints = rig.endpoints({ workspaceId: "w-secret" });
    await endpoints.updateEndpoint({ endpointId: id, active: false });
    await failing("w-secret", 1);
    const rotated = await endpoints.rotateSecret({ endpointId: id });
    const { events } = await client("w-secret").pullUndelivered({ endpointId: id });
    const { body = "", headers = {}, reason } = events[0] ?? {};
    expect(reason).toBe(UndeliveredReason.SKIPPED);
    expect(new Webhook(rotated.secret).verify(body, headers)).toBeDefined();
    expect(() => new Webhook(secret).verify(body, headers)).toThrow();
  });

  it("[OUT] a cursor misses nothing, also an old event that becomes undelivered late", async () => {
    const { id } = await rig.register("w-cursor", "/cursor");
    rig.receiver.behave(() => ({ status: 500 }));
    const slow = await rig.report({ workspaceId: "w-cursor" });
    await eventually(() => rig.requestsTo("/cursor").length === 1);
    rig.receiver.behave(() => ({ status: 410 }));
    const quick = [await failing("w-cursor", 1), await failing("w-cursor", 2), await failing("w-cursor", 3)];
    const pull = (cursor: string) => client("w-cursor").pullUndelivered({ endpointId: id, pageSize: 2, cursor });
    const first = await pull("");
    expect(first.events.map((event) => event.eventId)).toEqual(quick.slice(0, 2));
    expect(first.more).toBe(true);
    const second = await pull(first.nextCursor);
    expect(second.events.map((event) => event.eventId)).toEqual(quick.slice(2));
    expect(second.more).toBe(false);
    rig.clock.advance(HOUR_MS);
    rig.wake();
    await undelivered("w-cursor", 4);
    const third = await pull(second.nextCursor);
    expect(third.events.map((event) => event.eventId)).toEqual([slow]);
    const last = await pull(third.nextCursor);
    expect(last).toMatchObject({ events: [], more: false, nextCursor: third.nextCursor });
    expect((await pull("")).events.map((event) => event.eventId)).toEqual(quick.slice(0, 2));
    const log = rig.deliveries({ workspaceId: "w-cursor" });
    const { deliveries } = await log.listDeliveries({ eventId: quick[0] ?? "" });
    await log.resendDelivery({ deliveryId: deliveries[0]?.id ?? "" });
    const again = await eventually(async () => {
      const page = await pull(third.nextCursor);
      return page.events.length === 1 && page.events;
    });
    expect(again[0]?.eventId).toBe(quick[0]);
  });

  it("[OUT] a response contains at most 256 KiB of bodies", async () => {
    const { id } = await rig.register("w-large", "/large");
    await rig.endpoints({ workspaceId: "w-large" }).updateEndpoint({ endpointId: id, active: false });
    const dataJson = JSON.stringify({ text: "é".repeat(60_000) });
    const event = () => newEvent({ workspaceId: "w-large", dataJson }, rig.clock.now());
    for (let batch = 0; batch < 10; batch += 1) await rig.reportMany([event(), event()]);
    await undelivered("w-large", 20);
    const sizes: number[] = [];
    let cursor = "";
    let more = true;
    while (more) {
      const page = await client("w-large").pullUndelivered({ endpointId: id, pageSize: 100, cursor });
      sizes.push(page.events.length);
      const bytes = page.events.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
      expect(bytes).toBeLessThanOrEqual(256 * 1024);
      ({ nextCursor: cursor, more } = page);
    }
    expect(sizes).toEqual(Array(10).fill(2));
  });

  it("[OUT] acknowledged events leave the list permanently; repeating the acknowledgement keeps its user and time", async () => {
    const { id } = await rig.register("w-ack", "/ack");
    const eventIds = [await failing("w-ack", 1), await failing("w-ack", 2)];
    const [first = "", second = ""] = eventIds;
    const ask = { endpointId: id, eventIds: [first, "evt_unknown"] };
    const before = Math.floor(rig.clock.now().getTime() / 1000);
    for (let time = 0; time < 2; time += 1) {
      const response = await client("w-ack").acknowledgeUndelivered(ask);
      expect(response).toMatchObject({ acknowledged: 1, ignoredEventIds: ["evt_unknown"] });
    }
    const { events } = await client("w-ack").pullUndelivered({ endpointId: id });
    expect(events.map((event) => event.eventId)).toEqual([second]);
    const { events: history } = await client("w-ack").listUndelivered({ state: UndeliveredState.PULLED });
    expect(history).toMatchObject([
      { eventId: first, state: UndeliveredState.PULLED, pulledBy: "pull@acme.example", endpointId: id },
    ]);
    expect(Number(history[0]?.pulledAt?.seconds)).toBeGreaterThanOrEqual(before);
    const { deliveries } = await rig.deliveries({ workspaceId: "w-ack" }).listDeliveries({ eventId: first });
    await rig.deliveries({ workspaceId: "w-ack" }).resendDelivery({ deliveryId: deliveries[0]?.id ?? "" });
    await eventually(async () => {
      const { rows } = await rig.pool.query(
        "select from outbound_webhook.delivery where event_id = $1 and status = 'failed'",
        [first],
      );
      return rows.length === 2;
    });
    expect((await client("w-ack").listUndelivered({})).events.map((event) => event.eventId)).toEqual([second]);
  });

  it("[OUT] an event that is being sent again can be acknowledged; one that was delivered cannot", async () => {
    const { id } = await rig.register("w-way", "/way");
    const eventId = await failing("w-way", 1);
    rig.receiver.behave(() => ({ status: 500 }));
    const log = rig.deliveries({ workspaceId: "w-way" });
    const [failed] = (await log.listDeliveries({})).deliveries;
    await log.resendDelivery({ deliveryId: failed?.id ?? "" });
    const acknowledge = (eventIds: string[]) => client("w-way").acknowledgeUndelivered({ endpointId: id, eventIds });
    expect(await acknowledge([eventId])).toMatchObject({ acknowledged: 1 });
    rig.receiver.behave(() => ({}));
    const delivered = await rig.report({ workspaceId: "w-way" });
    await eventually(() => rig.requestsTo("/way").length >= 3);
    expect(await acknowledge([delivered])).toMatchObject({ acknowledged: 0, ignoredEventIds: [delivered] });
  });

  it("[WMGMT] refuses malformed cursors and ids", async () => {
    const { id } = await rig.register("w-refuse", "/refuse");
    const calls = [
      client("w-refuse").pullUndelivered({ endpointId: id, cursor: "x" }),
      client("w-refuse").pullUndelivered({ endpointId: id, pageSize: 101 }),
      client("w-refuse").acknowledgeUndelivered({ endpointId: id, eventIds: [] }),
      client("w-refuse").acknowledgeUndelivered({
        endpointId: id,
        eventIds: Array.from({ length: 1_001 }, (_, index) => `evt_${index}`),
      }),
      client("w-refuse").acknowledgeUndelivered({ endpointId: id, eventIds: ["x".repeat(129)] }),
    ];
    const codes = await Promise.all(calls.map((call) => call.catch(codeOf)));
    expect(codes).toEqual(Array(5).fill(Code.InvalidArgument));
  });

  it("[OUT] an acknowledgement waits for other changes in the workspace", async () => {
    const { id } = await rig.register("w-turn", "/turn");
    const eventId = await failing("w-turn", 1);
    const holder = await rig.pool.connect();
    await holder.query("begin");
    await holder.query("select from outbound_webhook.queue_group where group_id = 'w-turn' for update");
    const acknowledged = client("w-turn").acknowledgeUndelivered({ endpointId: id, eventIds: [eventId] });
    const waits = eventually(async () => {
      const { rowCount } = await rig.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
           and query like '%queue_group%'`,
      );
      return rowCount === 1;
    });
    await waits.finally(async () => {
      await holder.query("rollback");
      holder.release();
    });
    expect(await acknowledged).toMatchObject({ acknowledged: 1 });
  });

  it("[OUT] a cursor from before a restore of the database starts at the beginning instead of leaving a gap", async () => {
    const { id } = await rig.register("w-restored", "/restored");
    await failing("w-restored", 1);
    await failing("w-restored", 2);
    const pull = (cursor: string) => client("w-restored").pullUndelivered({ endpointId: id, cursor });
    const { nextCursor } = await pull("");
    expect(await pull(nextCursor)).toMatchObject({ events: [], nextCursor });
    await rig.pool.query(`with gone as (delete from outbound_webhook.undelivered where endpoint_id = ${id} returning position)
      select setval('outbound_webhook.undelivered_position', min(position), false) from gone`);
    const fresh = await failing("w-restored", 1);
    const restored = await pull(nextCursor);
    expect(restored.events.map((event) => event.eventId)).toEqual([fresh]);
    await rig.pool.query(`create table outbound_webhook.restored (like outbound_webhook.undelivered including all);
      insert into outbound_webhook.restored select * from outbound_webhook.undelivered;
      drop table outbound_webhook.undelivered;
      alter table outbound_webhook.restored rename to undelivered`);
    expect(await pull(restored.nextCursor)).toMatchObject({ events: [{ eventId: fresh }] });
  });
});
