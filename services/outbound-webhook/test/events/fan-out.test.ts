import { fromBinary } from "@bufbuild/protobuf";
import { eventually } from "@toolgate/testbed/eventually";
import { lockGroup } from "@toolgate/testbed/locked-group";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { QUEUE_TABLES } from "../../src/store/queue.ts";
import { newEvent, type OutboundRig, SettledSchema, settledSubject, startOutboundRig } from "../outbound-rig.ts";

describe("the fan-out", () => {
  let rig: OutboundRig;
  beforeAll(async () => {
    rig = await startOutboundRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const count = async (table: string, workspaceId: string) => {
    const { rows } = await rig.pool.query(
      `select count(*)::int as count from outbound_webhook.${table} where workspace_id = $1`,
      [workspaceId],
    );
    return rows[0].count;
  };
  const parked = async () =>
    (await rig.pool.query("select reason from outbound_webhook.parked_message order by id")).rows;

  it.each([
    ["from a clock that is ahead", -2_000],
    ["as a day fills up", 86_400_000 - 30_000],
    ["as it becomes too late for its partition", 2 * 86_400_000 - 30_000],
    ["as it stops being too early for its partition", -86_400_000 - 30_000],
    ["days late", 12.5 * 86_400_000],
  ])(
    "[OUT-57] an event that comes twice in one message, and again %s, is stored and delivered once",
    async (name, ageMs) => {
      const workspaceId = `w-${name.replaceAll(" ", "-")}`;
      await rig.register(workspaceId, `/${workspaceId}`);
      const event = newEvent({ workspaceId }, new Date(rig.clock.now().getTime() - ageMs));
      await rig.reportMany([event, event]);
      await eventually(() => rig.requestsTo(`/${workspaceId}`).length === 1);
      rig.clock.advance(60_000);
      await rig.reportMany([event]);
      await rig.report({ workspaceId, type: "custom.last" });
      await eventually(() => rig.requestsTo(`/${workspaceId}`).length >= 2);
      expect(await count("delivery", workspaceId)).toBe(2);
      expect(await count("event", workspaceId)).toBe(2);
      const body = JSON.parse(String(rig.requestsTo(`/${workspaceId}`)[0]?.body));
      expect(Date.parse(body.created) / 1000).toBe(Number(event.created));
    },
  );

  it("[OUT] a malformed event is parked with its reason and does not delay the others", async () => {
    await rig.register("w-poison", "/poison");
    const good = () => newEvent({ workspaceId: "w-poison" }, rig.clock.now());
    await rig.bus.js.publish("events.test-source", new Uint8Array([0xff, 0xff, 0xff]));
    await rig.reportMany([
      good(),
      { ...good(), eventId: "evt_1" },
      { ...good(), type: "webhook.test" },
      { ...good(), dataJson: "[1]" },
      { ...good(), dataJson: "{" },
      { ...good(), workspaceId: "a\0b" },
      { ...good(), created: 2n ** 60n },
      { ...good(), dataJson: JSON.stringify({ a: "x".repeat(300_000) }) },
      good(),
    ]);
    await eventually(() => rig.requestsTo("/poison").length === 2);
    const reasons = await eventually(async () => {
      const rows = await parked();
      return rows.length === 8 && rows.map((row) => row.reason);
    });
    expect(reasons).toEqual([
      expect.stringContaining("not readable"),
      "event_id must be evt_ and 32 hex characters",
      "type is not in the catalogue",
      "data is not a JSON object",
      "data is not a JSON object",
      "workspace is malformed",
      "created is not a time in seconds",
      "the body is over 256 KB",
    ]);
  });

  it("[OUT] an event that the database refuses is parked, and the rest of its batch is delivered", async () => {
    await rig.register("w-refused", "/refused");
    await rig.pool.query(
      "alter table outbound_webhook.event add constraint no_such_type check (type <> 'custom.refused') not valid",
    );
    const before = (await parked()).length;
    const events = ["custom.1", "custom.2", "custom.refused", "custom.3"].map((type) =>
      newEvent({ workspaceId: "w-refused", type }, rig.clock.now()),
    );
    await rig.reportMany(events);
    await eventually(() => rig.requestsTo("/refused").length === 3);
    expect((await parked()).slice(before)).toEqual([{ reason: expect.stringContaining("no_such_type") }]);
  });

  it("[OUT] a workspace whose queue is locked does not keep the events of others waiting, and loses none; a refused one is parked once", async () => {
    for (const name of ["w-locked", "w-free"]) await rig.register(name, `/${name}`);
    const before = (await parked()).length;
    await using lock = await lockGroup(rig.pool, QUEUE_TABLES, "w-locked");
    const wanted = ["w-locked", "w-free"].map((workspaceId) => newEvent({ workspaceId }, rig.clock.now()));
    await rig.reportMany([...wanted, newEvent({ workspaceId: "w-free", type: "nonsense" }, rig.clock.now())]);
    await eventually(async () => expect(await count("delivery", "w-free")).toBe(1));
    expect(await count("delivery", "w-locked")).toBe(0);
    await lock.disposeAsync();
    await eventually(async () => expect(await count("delivery", "w-locked")).toBe(1));
    expect(await count("delivery", "w-free")).toBe(1);
    // Their message came several times.
    await eventually(async () => expect(await parked()).toHaveLength(before + 1));
  });

  it("[OUT] reports to the source which events are settled, including parked ones", async () => {
    await rig.register("w-settled", "/settled");
    const told: string[] = [];
    const subscription = rig.bus.nc.subscribe(settledSubject, {
      callback(_error, message) {
        told.push(...fromBinary(SettledSchema, message.data).eventIds);
      },
    });
    await rig.bus.nc.flush();
    const good = newEvent({ workspaceId: "w-settled" }, rig.clock.now());
    const bad = newEvent({ workspaceId: "w-settled", type: "nonsense" }, rig.clock.now());
    await rig.reportMany([good, bad]);
    // Notices of events before these may come as well.
    await eventually(() => expect(told).toEqual(expect.arrayContaining([good.eventId, bad.eventId])));
    expect(await count("event", "w-settled")).toBe(1);
    subscription.unsubscribe();
  });

  it("[OUT] events of a workspace without endpoints are stored and not delivered", async () => {
    await rig.report({ workspaceId: "w-nobody" });
    await eventually(async () => (await count("event", "w-nobody")) === 1);
    expect(await count("delivery", "w-nobody")).toBe(0);
  });
});
