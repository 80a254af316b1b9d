import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ReplaySelection, ReplayState } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { maintainPartitions } from "../../src/store/retention.ts";
import { newEvent, type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe("replay", () => {
  let rig: OutboundRig;
  let start: Date;
  beforeAll(async () => {
    rig = await startOutboundRig();
  });
  beforeEach(() => {
    rig.receiver.behave(() => ({}));
    start = new Date(Math.floor(rig.clock.now().getTime() / SECOND_MS) * SECOND_MS);
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const client = (workspaceId: string) => rig.replays({ workspaceId, email: "mia@acme.example" });
  /** This many seconds before the test. */
  const ago = (seconds: number) => new Date(start.getTime() - seconds * SECOND_MS);
  const range = (fromSecondsAgo: number, toSecondsAgo?: number) => ({
    from: timestampFromDate(ago(fromSecondsAgo)),
    ...(toSecondsAgo !== undefined && { to: timestampFromDate(ago(toSecondsAgo)) }),
  });

  /** Events that come while the endpoint is inactive, one per age in seconds; it is active afterwards. */
  async function skipped(
    workspaceId: string,
    endpointId: bigint,
    ages: readonly number[],
    event: object = {},
  ): Promise<string[]> {
    const endpoints = rig.endpoints({ workspaceId });
    await endpoints.updateEndpoint({ endpointId, active: false });
    const events = ages.map((age) => newEvent({ workspaceId, ...event }, ago(age)));
    const before = await count(workspaceId);
    await rig.reportMany(events);
    await eventually(async () => (await count(workspaceId)) === before + ages.length);
    await endpoints.updateEndpoint({ endpointId, active: true });
    return events.map((made) => made.eventId);
  }
  const count = async (workspaceId: string) =>
    (await rig.undelivered({ workspaceId }).countUndelivered({})).counts[0]?.events ?? 0;
  const finished = (workspaceId: string, replayId: bigint) =>
    eventually(async () => {
      const { replay } = await client(workspaceId).getReplay({ replayId });
      return replay?.state === ReplayState.DONE && replay;
    });
  async function advance(ms: number): Promise<void> {
    rig.clock.advance(ms);
    await maintainPartitions(rig.pool, rig.clock.now());
  }
  const sentTo = (path: string) => rig.requestsTo(path).map((request) => JSON.parse(String(request.body)).id);

  it("[OUT-52] [OUT-53] sends undelivered events again, oldest first: new deliveries, the same event ids and bytes", async () => {
    const { id } = await rig.register("w-send", "/send");
    const eventIds = await skipped("w-send", id, [50, 40, 30], { dataJson: '{"a":"é\\u00e9"}', hop: 2 });
    const { replayId } = await client("w-send").startReplay({ endpointId: id, range: range(60), ratePerSecond: 100 });
    const replay = await finished("w-send", replayId);
    expect(replay).toMatchObject({
      endpointId: id,
      ratePerSecond: 100,
      eventsAtStart: 3,
      considered: 3,
      sent: 3,
      delivered: 3,
      failed: 0,
      skipped: 0,
      cancelled: 0,
      outstanding: 0,
      startedBy: "mia@acme.example",
      cancelledBy: "",
    });
    expect(replay?.position && timestampDate(replay.position)).toEqual(ago(30));
    expect(replay?.finishedAt).toBeDefined();
    expect(sentTo("/send").toSorted()).toEqual(eventIds.toSorted());
    const bodies = await rig.pool.query("select id, body from outbound_webhook.event where id = any($1)", [eventIds]);
    for (const request of rig.requestsTo("/send")) {
      expect(bodies.rows.some((row) => row.body.equals(request.body))).toBe(true);
      expect(request.headers).toMatchObject({ "x-service-hop": "2", "x-service-attempt": "1" });
    }
    const rows = await rig.pool.query(
      "select id, kind from outbound_webhook.delivery where workspace_id = 'w-send' order by created_at, id",
    );
    expect(rows.rows.map((row) => row.kind)).toEqual(["replay", "replay", "replay"]);
    const sent = rig.requestsTo("/send").map((request) => request.headers["x-service-delivery"]);
    expect(new Set(sent)).toEqual(new Set(rows.rows.map((row) => row.id)));
    expect(await count("w-send")).toBe(0);
  });

  it("[OUT] sends nothing outside of the range and the types, and a second replay finds nothing left", async () => {
    const { id } = await rig.register("w-range", "/range");
    const [, inside = ""] = await skipped("w-range", id, [50, 40, 30], { type: "custom.a" });
    await skipped("w-range", id, [45, 40], { type: "custom.b" });
    const only = { ...range(45, 35), types: ["custom.a"] };
    const preview = await client("w-range").previewReplay({ endpointId: id, range: only });
    expect(preview).toMatchObject({ events: 1, more: false, types: [{ type: "custom.a", events: 1 }] });
    for (const sent of [1, 0]) {
      const { replayId } = await client("w-range").startReplay({ endpointId: id, range: only });
      expect(await finished("w-range", replayId)).toMatchObject({ sent, eventsAtStart: sent, considered: sent });
    }
    expect(sentTo("/range")).toEqual([inside]);
    const preview2 = await client("w-range").previewReplay({ endpointId: id, range: range(60), ratePerSecond: 2 });
    expect(preview2).toMatchObject({
      events: 4,
      types: [
        { type: "custom.a", events: 2 },
        { type: "custom.b", events: 2 },
      ],
      estimatedSeconds: 2,
    });
    expect(preview2.oldest && timestampDate(preview2.oldest)).toEqual(ago(50));
    expect(preview2.newest && timestampDate(preview2.newest)).toEqual(ago(30));
  });

  it("[OUT] a replay of everything also sends delivered events, each once", async () => {
    const { id } = await rig.register("w-all", "/all");
    const statuses = new Map<string, number>();
    rig.receiver.behave((request) => ({ status: statuses.get(JSON.parse(String(request.body)).id) ?? 200 }));
    const events = [200, 200, 410, 500].map((status) => {
      const event = newEvent({ workspaceId: "w-all" }, rig.clock.now());
      statuses.set(event.eventId, status);
      return event;
    });
    await rig.reportMany(events);
    await eventually(async () => {
      const { rows } = await rig.pool.query(
        "select from outbound_webhook.delivery where workspace_id = 'w-all' and attempts = 1",
      );
      return rows.length === 4;
    });
    // Not with the RPC, which would cancel the delivery that waits for its retry.
    await rig.pool.query("update outbound_webhook.endpoint set active = false where workspace_id = 'w-all'");
    const met = newEvent({ workspaceId: "w-all" }, rig.clock.now());
    await rig.reportMany([met]);
    await eventually(async () => (await count("w-all")) === 2);
    await rig.pool.query("update outbound_webhook.endpoint set active = true where workspace_id = 'w-all'");
    statuses.clear();
    rig.clock.advance(5 * SECOND_MS);
    const everything = { ...range(60), selection: ReplaySelection.ALL };
    const preview = await client("w-all").previewReplay({ endpointId: id, range: everything });
    expect(preview).toMatchObject({ events: 4, types: [{ type: "custom.thing", events: 4 }] });
    const before = sentTo("/all").length;
    const { replayId } = await client("w-all").startReplay({ endpointId: id, range: everything, ratePerSecond: 100 });
    expect(await finished("w-all", replayId)).toMatchObject({ considered: 5, sent: 4, delivered: 4, skipped: 1 });
    const again = sentTo("/all").slice(before);
    expect(again.toSorted()).toEqual([...events.slice(0, 3), met].map((event) => event.eventId).toSorted());
  });

  it("[OUT] the bytes of an old event are copied once for all replays of the next days", async () => {
    const { id } = await rig.register("w-copy", "/copy");
    const eventId = await rig.report({ workspaceId: "w-copy" });
    await eventually(() => rig.requestsTo("/copy").length === 1);
    await advance(3 * DAY_MS);
    const everything = { ...range(60), selection: ReplaySelection.ALL };
    for (let time = 0; time < 2; time += 1) {
      const { replayId } = await client("w-copy").startReplay({ endpointId: id, range: everything });
      expect(await finished("w-copy", replayId)).toMatchObject({ sent: 1, delivered: 1 });
    }
    const { rows } = await rig.pool.query("select body from outbound_webhook.event where id = $1", [eventId]);
    expect(rows).toHaveLength(2);
    for (const request of rig.requestsTo("/copy")) expect(rows[0].body.equals(request.body)).toBe(true);
  });
});
