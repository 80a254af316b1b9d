import { create } from "@bufbuild/protobuf";
import { createWakeUp } from "@toolgate/event-bus/wake-up";
import { type Attempt, AttemptResultSchema, AttemptSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { createSecretBox, type SealingKey } from "@toolgate/secret-box/secret-box";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { toRecord } from "../../src/events/attempt-record.ts";
import { createAttemptSender, type SendAttempts } from "../../src/events/attempt-sender.ts";
import { runDispatcher } from "../../src/events/dispatcher.ts";
import { createApplyResults } from "../../src/store/deliveries/apply-results.ts";
import { type ClaimedDelivery, createClaimStore } from "../../src/store/deliveries/claim.ts";
import { deliveryQueue } from "../../src/store/queue.ts";
import { newEvent, type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

const QUEUE = deliveryQueue({ perGroup: 5, perMember: 2, failingPerGroup: 2 });

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

  function dispatch(send: SendAttempts, keys: SealingKey[] = rig.config.core?.sealingKeys ?? []): void {
    const { databaseUrl = "" } = rig.config.core ?? {};
    const pool = createPipelinePool({ url: databaseUrl, maxConnections: 2, applicationName: "dispatcher" });
    const stopping = new AbortController();
    const ended = runDispatcher({
      store: createClaimStore(pool, QUEUE),
      applyResults: createApplyResults(pool, QUEUE),
      secretBox: createSecretBox({ keys }),
      send,
      wakeUp: createWakeUp(),
      now: rig.clock.now,
      signal: stopping.signal,
      onError: (error) => errors.push(error),
    });
    running.defer(async () => {
      stopping.abort();
      await ended;
      await pool.end();
    });
  }
  const queued = async () => (await rig.pool.query("select * from outbound_webhook.queue_item")).rows;
  const members = async () => (await rig.pool.query("select * from outbound_webhook.queue_member")).rows;

  it("[OUT-57] hands back only attempts that did not reach the workers, which get nothing twice", async () => {
    await rig.register("w", "/1");
    await rig.register("w", "/2");
    await rig.report({ workspaceId: "w" });
    await eventually(async () => (await queued()).length === 2);
    const sent: Attempt[][] = [];
    dispatch(async (messages) => {
      const attempts = messages.flatMap((message) => message.attempts);
      const failed = sent.push(attempts) === 1 ? attempts.slice(0, 1) : [];
      return failed.map((attempt) => ({ attempts: [attempt], error: new Error("no broker") }));
    });
    await eventually(() => sent.length === 2);
    const ids = sent.map((attempts) => attempts.map(({ deliveryId }) => deliveryId));
    expect(ids[0]).toHaveLength(2);
    expect(ids[1]).toEqual([ids[0]?.[0]]);
    expect(errors).toHaveLength(1);
  });

  it("[FAIR-1] results cause another claim only when a delivery waits for the freed slots", async () => {
    const { databaseUrl = "" } = rig.config.core ?? {};
    const pool = createPipelinePool({ url: databaseUrl, maxConnections: 1, applicationName: "rings" });
    running.defer(() => pool.end());
    const store = createClaimStore(pool, QUEUE);
    const applyResults = createApplyResults(pool, QUEUE);
    await rig.register("w", "/w");
    await rig.reportMany([1, 2, 3].map(() => newEvent({ workspaceId: "w" }, rig.clock.now())));
    await eventually(async () => (await queued()).length === 3);
    const now = rig.clock.now();
    const claim = async () => (await store.claim(now, new Date(now.getTime() + 45_000))).deliveries;
    const settle = ({ deliveryId, workspaceId, number }: ClaimedDelivery) => {
      const result = { deliveryId, workspaceId, number, responseCode: 200, startedAtMs: BigInt(now.getTime()) };
      const record = toRecord(create(AttemptResultSchema, result), now);
      return applyResults(record ? [record] : [], now);
    };
    const [first, second] = (await claim()) as [ClaimedDelivery, ClaimedDelivery];
    expect(await settle(first)).toBe(true);
    const [third] = (await claim()) as [ClaimedDelivery];
    expect(await settle(second)).toBe(false);
    expect(await settle(third)).toBe(false);
    expect(await queued()).toEqual([]);
  });

  it("[OUT] a message that the broker refuses does not delay the others", async () => {
    const messages = [1, 2 * 1024 ** 2, 1].map((bytes, index) => ({
      messageId: String(index),
      attempts: [create(AttemptSchema, { deliveryId: String(index), body: Buffer.alloc(bytes) })],
    }));
    const failures = await createAttemptSender(rig.bus)(messages);
    expect(failures.map((failure) => failure.attempts.map(({ deliveryId }) => deliveryId))).toEqual([["1"]]);
    expect((await rig.bus.jsm.streams.info("ATTEMPTS")).state.messages).toBe(2);
  });

  it("[FAIR] a delivery that cannot be signed frees its slot, waits, and makes its endpoint count as failing", async () => {
    await rig.register("w", "/w");
    await rig.report({ workspaceId: "w" });
    dispatch(async () => [], [{ version: 2, key: Buffer.alloc(32, 9) }]);
    const [member] = await eventually(async () => {
      const rows = await members();
      return rows.length === 1 && rows[0].failing && rows;
    });
    expect(member.in_flight).toBe(0);
    const [item] = await queued();
    expect(item).toMatchObject({ attempt: 1, lease_until: null });
    expect(item.due_at.getTime()).toBeGreaterThan(rig.clock.now().getTime());
    expect(errors).toHaveLength(1);
  });

  it.each([
    ["does not count as failing after an attempt of 2 s", 2_000, false],
    ["counts as failing after a longer one, although it succeeded", 2_001, true],
  ])("[FAIR] an endpoint %s", async (_name, durationMs, failing) => {
    const { databaseUrl = "" } = rig.config.core ?? {};
    const pool = createPipelinePool({ url: databaseUrl, maxConnections: 1, applicationName: "slow" });
    running.defer(() => pool.end());
    await rig.register("w", "/w");
    await rig.report({ workspaceId: "w" });
    await eventually(async () => (await queued()).length === 1);
    const now = rig.clock.now();
    const { deliveries } = await createClaimStore(pool, QUEUE).claim(now, new Date(now.getTime() + 45_000));
    const { deliveryId = "", workspaceId = "" } = deliveries[0] ?? {};
    const startedAtMs = BigInt(now.getTime());
    const made = { deliveryId, workspaceId, number: 1, responseCode: 200, startedAtMs, durationMs };
    const record = toRecord(create(AttemptResultSchema, made), now) ?? expect.fail("no record");
    await createApplyResults(pool, QUEUE)([record], now);
    expect(await members()).toMatchObject([{ in_flight: 0, failing }]);
  });

  it("[FAIR] the queue forgets a deleted endpoint, immediately or when its last attempt has ended", async () => {
    const endpoints = rig.endpoints({ workspaceId: "w" });
    const idle = await rig.register("w", "/idle", ["custom.other"]);
    await rig.report({ workspaceId: "w", type: "custom.other" });
    await eventually(async () => (await members()).length === 1);
    await endpoints.deleteEndpoint({ endpointId: idle.id });
    expect(await members()).toEqual([]);

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
    await rig.report({ workspaceId: "w" });
    await eventually(async () => (await queued()).length === 1);
    const { databaseUrl = "" } = rig.config.core ?? {};
    const pool = createPipelinePool({ url: databaseUrl, maxConnections: 1, applicationName: "paused" });
    running.defer(() => pool.end());
    const now = rig.clock.now();
    const store = createClaimStore(pool, QUEUE);
    const { deliveries } = await store.claim(now, new Date(now.getTime() + 45_000));
    const later = new Date(now.getTime() + 46_000);
    expect(await store.expireLeases(later)).toBe(1);
    expect((await store.claim(later, later)).deliveries).toEqual([]);
    const { deliveryId = "", workspaceId = "" } = deliveries[0] ?? {};
    const startedAtMs = BigInt(now.getTime());
    const result = create(AttemptResultSchema, { deliveryId, workspaceId, number: 1, responseCode: 200, startedAtMs });
    const record = toRecord(result, later);
    await createApplyResults(pool, QUEUE)(record ? [record] : [], later);
    expect(await queued()).toEqual([]);
    expect(await members()).toMatchObject([{ in_flight: 0, failing: false }]);
    const { rows } = await rig.pool.query("select status from outbound_webhook.delivery");
    expect(rows).toEqual([{ status: "delivered" }]);
  });
});
