import { create } from "@bufbuild/protobuf";
import { JetStreamApiError } from "@nats-io/jetstream";
import type { Bus } from "@toolgate/event-bus/connect";
import { AttemptResultSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import type { Pool } from "@toolgate/postgres/pool";
import { createSecretBox, type SealingKey } from "@toolgate/secret-box/secret-box";
import { eventually } from "@toolgate/testbed/eventually";
import { lockGroup } from "@toolgate/testbed/locked-group";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createAttemptSender, LEASE_MS } from "../../src/events/attempt-sender.ts";
import { toRecord } from "../../src/events/result-consumer.ts";
import { applyResults, type DeliveryRecord } from "../../src/store/deliveries/apply-results.ts";
import { type ClaimedDelivery, claimDeliveries, expireLeases } from "../../src/store/deliveries/claim.ts";
import { deliveryQueue } from "../../src/store/queue.ts";
import { newEvent, type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

const QUEUE = deliveryQueue({ perGroup: 5, perMember: 2, failingPerGroup: 2 });
const TOO_LARGE = new JetStreamApiError({
  code: 400,
  err_code: 10054,
  description: "message size exceeds maximum allowed",
});

describe("the dispatcher", () => {
  let rig: OutboundRig;
  let running: AsyncDisposableStack;
  let errors: unknown[];
  beforeAll(async () => {
    rig = await startOutboundRig({ instances: [["manager", "fan-out"]] });
  });
  afterAll(() => rig[Symbol.asyncDispose]());
  beforeEach(async () => {
    await rig.pool.query("truncate outbound_webhook.delivery, outbound_webhook.endpoint");
    await rig.pool.query(
      "truncate outbound_webhook.queue_group, outbound_webhook.queue_member, outbound_webhook.queue_item",
    );
    running = new AsyncDisposableStack();
    errors = [];
  });
  afterEach(() => running.disposeAsync());

  /** The store of a process of its own. */
  function open() {
    const { databaseUrl = "" } = rig.config.core ?? {};
    const pool = createPipelinePool({ url: databaseUrl, maxConnections: 2, applicationName: "dispatcher" });
    running.defer(() => pool.end());
    return {
      pool,
      apply: async (records: readonly DeliveryRecord[], now: Date, lockTimeoutMs = 5_000) =>
        (await applyResults(pool, QUEUE, records, now, lockTimeoutMs)).due,
    };
  }
  function sender({ bus = rig.bus, keys = rig.config.core?.sealingKeys ?? [] }: { bus?: Bus; keys?: SealingKey[] }) {
    const { pool, apply } = open();
    const secretBox = createSecretBox({ keys });
    const send = createAttemptSender({ bus, applyUnsent: apply, secretBox, onError: (error) => errors.push(error) });
    return { pool, send };
  }
  /** Claims what is due, as of now. */
  async function claim(pool: Pool): Promise<{ deliveries: ClaimedDelivery[]; now: Date; leaseUntil: Date }> {
    const now = rig.clock.now();
    const leaseUntil = new Date(now.getTime() + LEASE_MS);
    return { ...(await claimDeliveries(pool, QUEUE, now, leaseUntil)), now, leaseUntil };
  }
  const resultOf = ({ deliveryId, workspaceId, number }: ClaimedDelivery, now: Date, durationMs = 0) => {
    const startedAtMs = BigInt(now.getTime());
    const result = { deliveryId, workspaceId, number, responseCode: 200, startedAtMs, durationMs };
    return toRecord(create(AttemptResultSchema, result), now);
  };
  async function reportMany(count: number, workspaceId = "w"): Promise<void> {
    await rig.reportSome(workspaceId, count);
    await eventually(async () => (await queued()).length === count);
  }
  const queued = async () => (await rig.pool.query("select * from outbound_webhook.queue_item")).rows;
  const members = async () => (await rig.pool.query("select * from outbound_webhook.queue_member")).rows;

  it("[OUT-57] returns what did not reach the broker, which is then sent under the same number", async () => {
    await rig.register("w", "/w");
    await reportMany(1);
    const { pool, send } = sender({ bus: { ...rig.bus, js: { publish: () => Promise.reject(TOO_LARGE) } } as never });
    const { deliveries, now } = await claim(pool);
    await send(deliveries, now);
    expect(errors).toHaveLength(1);
    expect((await claim(pool)).deliveries).toMatchObject([{ deliveryId: deliveries[0]?.deliveryId, number: 1 }]);
  });

  it("[FAIR] what did not reach the broker is returned to the queues that are not locked", async () => {
    for (const workspaceId of ["v", "w"]) await rig.register(workspaceId, `/${workspaceId}`);
    await rig.reportMany(["v", "w"].map((workspaceId) => newEvent({ workspaceId }, rig.clock.now())));
    await eventually(async () => (await queued()).length === 2);
    const { pool, send } = sender({ bus: { ...rig.bus, js: { publish: () => Promise.reject(TOO_LARGE) } } as never });
    const { deliveries, now } = await claim(pool);
    await using _lock = await lockGroup(rig.pool, QUEUE.tables, "v");
    await send(deliveries, now);
    expect((await claim(pool)).deliveries).toMatchObject([{ workspaceId: "w", number: 1 }]);
  });

  it("[FAIR-3] a series holds its slot until its first delivery has a result, and what was not made of it is due again", async () => {
    await rig.register("w", "/w");
    await reportMany(3);
    const { pool, apply } = open();
    const { deliveries, now, leaseUntil } = await claim(pool);
    expect(deliveries.map(({ slot }) => slot)).toEqual([0, 1, 0]);
    const [first, second, behind] = deliveries as [ClaimedDelivery, ClaimedDelivery, ClaimedDelivery];
    const notMade = { ...behind, verdict: "returned", leaseUntil } as const;
    const stale = { ...notMade, leaseUntil: now };
    await apply([stale], now);
    await apply([notMade], now);
    expect((await claim(pool)).deliveries).toEqual([]);
    expect(await members()).toMatchObject([{ in_flight: 2 }]);
    await apply([resultOf(first, now)], now);
    expect((await claim(pool)).deliveries).toMatchObject([{ deliveryId: behind.deliveryId, number: 1 }]);
    await apply([resultOf(second, now), resultOf(behind, now)], now);
    expect(await members()).toMatchObject([{ in_flight: 0 }]);
    expect(await queued()).toEqual([]);
  });

  it("[OUT] series with large bodies are cut, so that their message is not too large for the broker", async () => {
    await rig.register("w", "/w");
    const dataJson = JSON.stringify({ text: "x".repeat(200_000) });
    // Those of one slot are 1.2 MB: the broker takes 1 MB.
    const events = 12;
    for (let count = 1; count <= events; count += 1) {
      await rig.report({ workspaceId: "w", dataJson });
      await eventually(async () => (await queued()).length === count);
    }
    running.use(await rig.start(["dispatcher", "worker"]));
    await eventually(() => rig.requestsTo("/w").length === events);
    await eventually(async () => (await queued()).length === 0);
    expect(new Set(rig.requestsTo("/w").map(({ headers }) => headers["x-service-delivery"])).size).toBe(events);
  });

  it("[FAIR] a delivery that cannot be signed frees its slot, waits, and makes its endpoint count as failing", async () => {
    await rig.register("w", "/w");
    await rig.report({ workspaceId: "w" });
    await eventually(async () => (await queued()).length === 1);
    const { pool, send } = sender({ keys: [{ version: 2, key: Buffer.alloc(32, 9) }] });
    const { deliveries, now } = await claim(pool);
    await send(deliveries, now);
    expect(await members()).toMatchObject([{ in_flight: 0, failing: true }]);
    const [item] = await queued();
    expect(item).toMatchObject({ attempt: 1, lease_until: null });
    expect(item.due_at.getTime()).toBeGreaterThan(rig.clock.now().getTime());
    expect(errors).toHaveLength(1);
  });

  it.each([
    ["does not count as failing after an attempt of 2 s", 2_000, false],
    ["counts as failing after a longer one, although it succeeded", 2_001, true],
  ])("[FAIR] an endpoint %s", async (_name, durationMs, failing) => {
    await rig.register("w", "/w");
    await reportMany(1);
    const { pool, apply } = open();
    const { deliveries, now } = await claim(pool);
    await apply(
      deliveries.map((delivery) => resultOf(delivery, now, durationMs)),
      now,
    );
    expect(await members()).toMatchObject([{ in_flight: 0, failing }]);
  });

  it("[FAIR] the queue forgets a deleted endpoint once its last attempt has ended", async () => {
    const endpoints = rig.endpoints({ workspaceId: "w" });
    const idle = await rig.register("w", "/idle", ["custom.other"]);
    await rig.report({ workspaceId: "w", type: "custom.other" });
    await eventually(async () => (await members()).length === 1);
    await endpoints.deleteEndpoint({ endpointId: idle.id });
    await eventually(async () => expect(await members()).toEqual([]));

    const busy = await rig.register("w", "/busy");
    rig.receiver.behave(() => ({ delayMs: 700 }));
    running.use(await rig.start(["dispatcher", "worker"]));
    await rig.report({ workspaceId: "w" });
    await eventually(() => rig.requestsTo("/busy").length === 1);
    await endpoints.deleteEndpoint({ endpointId: busy.id });
    expect(await members()).toHaveLength(1);
    await eventually(async () => (await members()).length === 0);
    expect(await queued()).toEqual([]);
  });

  it("[OUT-57] a result that comes after its lease has expired settles the delivery", async () => {
    await rig.register("w", "/w");
    await reportMany(3);
    const { pool, apply } = open();
    const { deliveries, leaseUntil } = await claim(pool);
    const later = new Date(leaseUntil.getTime() + 1_000);
    expect(await expireLeases(pool, QUEUE, later)).toBe(3);
    expect((await claimDeliveries(pool, QUEUE, later, later)).deliveries).toEqual([]);
    await apply(
      deliveries.map((delivery) => resultOf(delivery, later)),
      later,
    );
    expect(await queued()).toEqual([]);
    expect(await members()).toMatchObject([{ in_flight: 0, failing: false }]);
    const { rows } = await rig.pool.query("select status from outbound_webhook.delivery");
    expect(rows).toEqual(Array(3).fill({ status: "delivered" }));
  });
});
