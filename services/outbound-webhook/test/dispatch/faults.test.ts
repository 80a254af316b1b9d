import type { ChildProcess } from "node:child_process";
import { create, toBinary } from "@bufbuild/protobuf";
import { AttemptResultBatchSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { DeliveryStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { eventually } from "@toolgate/testbed/eventually";
import { afterEach, describe, expect, it } from "vitest";
import { LEASE_MS } from "../../src/events/attempt-sender.ts";
import { claimDeliveries, RESULTS_FIRST_MS } from "../../src/store/deliveries/claim.ts";
import { deliveryQueue } from "../../src/store/queue.ts";
import { newEvent, type OutboundRig, startOutboundRig } from "../outbound-rig.ts";
import { spawnService } from "./service-process.ts";

/** By then a lease has ended, and results have had their time: with sweep and poll, no endpoint is silent for longer than 20 s. */
const LATER_MS = LEASE_MS + RESULTS_FIRST_MS + 1_000;
const RETRY_MS = 60_000;
const WORKSPACES = 30;
const EVENTS = 600;

/** Hundreds of deliveries, or a process that starts. */
const LONG_MS = 60_000;
const TEST_MS = 5 * LONG_MS;

const QUEUE = deliveryQueue({ perGroup: 5, perMember: 2, failingPerGroup: 2 });

describe("faults", { timeout: TEST_MS }, () => {
  let rig: OutboundRig;
  const children: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of children) child.kill("SIGKILL");
    children.length = 0;
    await rig[Symbol.asyncDispose]();
  });

  async function spawn(roles: string): Promise<ChildProcess> {
    const child = await spawnService(rig, roles);
    children.push(child);
    return child;
  }

  async function allDelivered(count: number): Promise<void> {
    await eventually(
      async () => {
        const { rows } = await rig.pool.query(
          "select status, count(*)::int as count from outbound_webhook.delivery group by status",
        );
        return rows.length === 1 && rows[0].status === "delivered" && rows[0].count === count;
      },
      { deadlineMs: LONG_MS },
    );
    expect((await rig.pool.query("select from outbound_webhook.queue_item")).rowCount).toBe(0);
    const slots = await rig.pool.query(
      "select sum(in_flight)::int as groups, (select sum(in_flight)::int from outbound_webhook.queue_member) as members from outbound_webhook.queue_group",
    );
    expect(slots.rows).toEqual([{ groups: 0, members: 0 }]);
  }

  async function fill(): Promise<void> {
    for (let index = 0; index < WORKSPACES; index += 1) await rig.register(`w${index}`, `/${index}`);
    const event = (_: unknown, index: number) => newEvent({ workspaceId: `w${index % WORKSPACES}` }, rig.clock.now());
    const events = Array.from({ length: EVENTS }, event);
    for (let start = 0; start < EVENTS; start += 100) await rig.reportMany(events.slice(start, start + 100));
    await eventually(
      async () => {
        const { rows } = await rig.pool.query("select count(*)::int as count from outbound_webhook.delivery");
        return rows[0].count === EVENTS;
      },
      { deadlineMs: LONG_MS },
    );
  }
  const eventsReceived = () => rig.receiver.requests.map((request) => JSON.parse(String(request.body)).id);

  it("[OUT-57] a dispatcher and worker killed with SIGKILL under load lose nothing and leave no slot taken", async () => {
    rig = await startOutboundRig({ instances: [["manager", "fan-out"]] });
    rig.receiver.behave(() => ({ delayMs: 10 }));
    await fill();
    const child = await spawn("dispatcher,worker");
    await eventually(() => rig.receiver.requests.length > EVENTS / 4, { everyMs: 2, deadlineMs: LONG_MS });
    child.kill("SIGKILL");
    rig.clock.advance(LATER_MS);
    await rig.start(["dispatcher", "worker"]);
    await allDelivered(EVENTS);
    const received = eventsReceived();
    expect(new Set(received).size).toBe(EVENTS);
    // What the killed worker had made of its series without reporting it is made once more.
    const times = [...Map.groupBy(received, (id) => id).values()].map((requests) => requests.length);
    expect(Math.max(...times)).toBeLessThanOrEqual(2);
  });

  it("[OUT-57] a fan-out killed with SIGKILL in the middle loses no event and stores none twice", async () => {
    rig = await startOutboundRig({ instances: [["manager"]] });
    const [events, endpoints] = [2_000, 5];
    for (let index = 0; index < endpoints; index += 1) await rig.register("w", `/${index}`);
    const all = Array.from({ length: events }, () => newEvent({ workspaceId: "w" }, rig.clock.now()));
    for (let start = 0; start < events; start += 100) await rig.reportMany(all.slice(start, start + 100));
    const countOf = async (table: "event" | "delivery") =>
      (await rig.pool.query(`select count(*)::int as count from outbound_webhook.${table}`)).rows[0].count;
    const child = await spawn("fan-out");
    await eventually(async () => (await countOf("event")) > 0, { everyMs: 2, deadlineMs: LONG_MS });
    child.kill("SIGKILL");
    expect(await countOf("event")).toBeLessThan(events);
    await rig.start(["fan-out"]);
    await eventually(async () => expect(await countOf("event")).toBe(events), { deadlineMs: LONG_MS });
    expect(await countOf("delivery")).toBe(events * endpoints);
  });

  it("[OUT-57] a broker that is wiped under load loses no delivery", async () => {
    rig = await startOutboundRig({ instances: [["manager", "fan-out"]] });
    rig.receiver.behave(() => ({ delayMs: 10 }));
    await fill();
    await rig.start(["dispatcher", "worker"]);
    await eventually(() => rig.receiver.requests.length > EVENTS / 4, { everyMs: 2, deadlineMs: LONG_MS });
    await rig.nats.wipe();
    await eventually(() => !rig.bus.nc.isClosed());
    rig.clock.advance(LATER_MS);
    await allDelivered(EVENTS);
    expect(new Set(eventsReceived()).size).toBe(EVENTS);
  });

  it("[OUT-57] a claim whose process died before sending is repeated under the same id and attempt number", async () => {
    rig = await startOutboundRig({ instances: [["manager", "fan-out"]] });
    await rig.register("w", "/w");
    await rig.report({ workspaceId: "w" });
    const { databaseUrl = "" } = rig.config.core ?? {};
    const pool = createPipelinePool({ url: databaseUrl, maxConnections: 1, applicationName: "dies" });
    const claimed = await eventually(async () => {
      const now = rig.clock.now();
      const { deliveries } = await claimDeliveries(pool, QUEUE, now, new Date(now.getTime() + LEASE_MS));
      return deliveries.length === 1 && deliveries;
    });
    await pool.end();
    rig.clock.advance(LATER_MS);
    await rig.start(["dispatcher", "worker"]);
    const [request] = await rig.receiver.waitFor(1);
    expect(request?.headers).toMatchObject({ "x-service-delivery": claimed[0]?.deliveryId, "x-service-attempt": "1" });
  });

  it("[OUT] a worker needs no database and no secret, and reports each result while another attempt still hangs", async () => {
    rig = await startOutboundRig({ instances: [["manager", "fan-out", "dispatcher"]] });
    await spawn("worker");
    rig.receiver.behave((request) => (request.path === "/hung" ? { hang: "before-status" } : {}));
    await rig.register("w", "/hung");
    await rig.register("w", "/fine");
    await rig.report({ workspaceId: "w" });
    await eventually(async () => {
      const { deliveries } = await rig.deliveries({ workspaceId: "w" }).listDeliveries({});
      return deliveries.map((delivery) => delivery.status).includes(DeliveryStatus.DELIVERED);
    });
    expect(rig.requestsTo("/hung")).toHaveLength(1);
    const { rows } = await rig.pool.query("select count(*)::int as count from outbound_webhook.attempt");
    expect(rows).toEqual([{ count: 1 }]);
  });

  it("[OUT-57] an attempt that a killed worker had reported is not made again", async () => {
    rig = await startOutboundRig({ instances: [["manager", "fan-out", "dispatcher"]] });
    const child = await spawn("worker");
    rig.receiver.behave((request) => (request.path === "/slow" ? { hang: "before-status" } : {}));
    await rig.register("w", "/slow");
    await rig.register("w", "/fine");
    await rig.report({ workspaceId: "w" });
    await eventually(async () => {
      const { rows } = await rig.pool.query("select status from outbound_webhook.delivery order by status");
      expect(rows).toEqual([{ status: "delivered" }, { status: "pending" }]);
      expect(rig.requestsTo("/slow")).toHaveLength(1);
    });
    child.kill("SIGKILL");
    rig.receiver.behave(() => ({}));
    await rig.start(["worker"]);
    await allDelivered(2);
    expect(rig.requestsTo("/slow").map(({ headers }) => headers["x-service-attempt"])).toEqual(["1", "1"]);
    expect(rig.requestsTo("/fine")).toHaveLength(1);
  });

  it("[FAIR] a repeated result, or one of another attempt, changes nothing", async () => {
    rig = await startOutboundRig();
    rig.receiver.behave(() => ({ status: 500 }));
    const { id } = await rig.register("w", "/w");
    await rig.report({ workspaceId: "w" });
    const log = rig.deliveries({ workspaceId: "w" });
    const before = await eventually(async () => {
      const [delivery] = (await log.listDeliveries({})).deliveries;
      return delivery?.status === DeliveryStatus.RETRYING && delivery;
    });
    const publish = async (numbers: number[]) => {
      const startedAtMs = BigInt(rig.clock.now().getTime());
      const result = { deliveryId: before.id, workspaceId: "w", responseCode: 410, startedAtMs };
      const nonsense = { deliveryId: "x'; --", workspaceId: "w", number: 1 };
      const results = [...numbers.map((number) => ({ ...result, number })), nonsense];
      const batch = toBinary(AttemptResultBatchSchema, create(AttemptResultBatchSchema, { results }));
      await rig.bus.js.publish("attempts.done", batch);
      await rig.bus.js.publish("attempts.done", new Uint8Array([0xff, 0xff]));
      await eventually(async () => {
        const consumer = await rig.bus.jsm.consumers.info("ATTEMPTS", "outbound-webhook-results");
        return consumer.num_ack_pending + consumer.num_pending === 0;
      });
    };
    await publish([1, 3, 6]);
    expect((await log.listDeliveries({})).deliveries).toEqual([before]);
    rig.receiver.behave(() => ({ delayMs: 1_500 }));
    rig.clock.advance(RETRY_MS);
    rig.wake();
    await rig.receiver.waitFor(2);
    const { deliveries: underWay } = await log.listDeliveries({});
    expect(underWay).toMatchObject([{ status: DeliveryStatus.RETRYING, attempts: 1 }]);
    await publish([1, 3, 6]);
    expect((await log.listDeliveries({})).deliveries).toEqual(underWay);
    const { endpoint } = await rig.endpoints({ workspaceId: "w" }).getEndpoint({ endpointId: id });
    expect(endpoint?.failuresInARow).toBe(0);
  });

  it("[OUT] deliveries that become due while the broker is down are sent to other workers as soon as it is back", async () => {
    rig = await startOutboundRig({ instances: [["manager", "fan-out", "dispatcher"], ["worker"]] });
    await rig.register("w", "/w");
    await rig.report({ workspaceId: "w" });
    await rig.receiver.waitFor(1);
    const log = rig.deliveries({ workspaceId: "w" });
    const [delivery] = (await log.listDeliveries({})).deliveries;
    await rig.nats.kill();
    await log.resendDelivery({ deliveryId: delivery?.id ?? "" });
    const inFlight = () => rig.pool.query("select from outbound_webhook.queue_item where lease_until is not null");
    await eventually(async () => (await inFlight()).rowCount === 1);
    await rig.nats.restart();
    await rig.receiver.waitFor(2, LONG_MS);
    await allDelivered(2);
  });
});
