import { create, fromBinary } from "@bufbuild/protobuf";
import {
  type AttemptBatch,
  AttemptBatchSchema,
  type AttemptResult,
  AttemptResultBatchSchema,
  AttemptResultSchema,
  AttemptSchema,
} from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { eventually } from "@toolgate/testbed/eventually";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ProcessRole } from "../../src/config.ts";
import { createAttemptSender } from "../../src/events/attempt-sender.ts";
import { LEASE_MS } from "../../src/events/dispatcher.ts";
import { createLocalAttempts } from "../../src/events/local-attempts.ts";
import { newClaimId } from "../../src/events/local-messages.ts";
import { createUnsentSweep } from "../../src/events/unsent-deliveries.ts";
import { createClaimStore } from "../../src/store/deliveries/claim.ts";
import { deliveryQueue } from "../../src/store/queue.ts";
import { newEvent, type OutboundRig, startOutboundRig } from "../outbound-rig.ts";
import { spawnService } from "./service-process.ts";

/** After this time an endpoint must get deliveries again, whichever process has died. A lease is 45 s. */
const SILENCE_MS = 10_000;
const EVENTS = 4;
const QUEUE = deliveryQueue({ perGroup: 5, perMember: 2, failingPerGroup: 2 });
const STOPPED = AbortSignal.abort();

describe("attempts of the dispatcher's own process", () => {
  let running: AsyncDisposableStack;
  let rig: OutboundRig;
  /** All messages with attempts that anybody has published, stored by the broker or not. */
  let published: AttemptBatch[];
  beforeEach(() => {
    running = new AsyncDisposableStack();
    published = [];
  });
  afterEach(() => running.disposeAsync());

  async function start(...roles: ProcessRole[]): Promise<void> {
    rig = running.use(await startOutboundRig({ instances: [roles], attemptDeadlineMs: 30_000 }));
    rig.bus.nc.subscribe("attempts.send", {
      callback: (_, message) => void published.push(fromBinary(AttemptBatchSchema, message.data)),
    });
    for (const path of ["/a", "/b"]) await rig.register("w", path);
  }
  const report = () =>
    rig.reportMany(Array.from({ length: EVENTS / 2 }, () => newEvent({ workspaceId: "w" }, rig.clock.now())));
  const nothingQueued = async () => (await rig.pool.query("select from outbound_webhook.queue_item")).rowCount === 0;
  const deliveriesReceived = () => rig.receiver.requests.map(({ headers }) => headers["x-service-delivery"]).toSorted();
  const storedMessages = async () => (await rig.bus.jsm.streams.info("ATTEMPTS")).state.last_seq;

  it("[OUT-57] are made without the broker, each delivery once", async () => {
    await start("manager", "fan-out", "dispatcher", "worker");
    let expected = 0;
    // Deliveries whose claim takes long on a busy machine are sent through the broker.
    await eventually(async () => {
      published.length = 0;
      expected += EVENTS;
      await report();
      await rig.receiver.waitFor(expected);
      await eventually(nothingQueued);
      return published.flatMap(({ attempts }) => attempts).length === 0;
    });
    const { rows } = await rig.pool.query("select id, status, attempts from outbound_webhook.delivery order by id");
    expect(rows.map(({ status, attempts }) => [status, attempts])).toEqual(Array(expected).fill(["delivered", 1]));
    expect(deliveriesReceived()).toEqual(rows.map(({ id }) => id));
  });

  it("[OUT-57] that were under way in a killed process are made again within 10 s, and none is lost", async () => {
    await start("manager", "fan-out");
    const answer = Promise.withResolvers<void>();
    rig.receiver.behave(() => ({ after: answer.promise }));
    const child = running.use(await spawnService(rig, "dispatcher,worker"));
    await report();
    await rig.receiver.waitFor(EVENTS);
    await eventually(() => published.length > 0);
    child.kill("SIGKILL");
    answer.resolve();
    // Their lease never ends, however long this takes.
    using _stopped = rig.clock.stop();
    rig.clock.advance(SILENCE_MS);
    await rig.start(["dispatcher", "worker"]);
    await eventually(nothingQueued);
    const { rows } = await rig.pool.query("select id, attempts from outbound_webhook.delivery order by id");
    expect(rows.map(({ attempts }) => attempts)).toEqual(Array(EVENTS).fill(1));
    expect(deliveriesReceived()).toEqual(rows.flatMap(({ id }) => [id, id]));
  });

  /** Claims deliveries as local ones, for nobody. `sweepAt` makes a sweep that runs when their lease has that age. */
  async function claimLocally() {
    await start("manager", "fan-out");
    await report();
    const { databaseUrl: url = "" } = rig.config.core ?? {};
    const pool = createPipelinePool({ url, maxConnections: 1, applicationName: "claims" });
    running.adopt(pool, (owned) => owned.end());
    const store = createClaimStore(pool, QUEUE);
    const now = await eventually(async () => {
      const at = rig.clock.now();
      const { deliveries } = await store.claim(at, new Date(at.getTime() + LEASE_MS), newClaimId(true));
      return deliveries.length > 0 && at;
    });
    const { rows } = await rig.pool.query(
      "select message_id, item_id from outbound_webhook.queue_item where lease_until is not null",
    );
    const messageId: string = rows[0].message_id;
    const deliveryIds: string[] = rows.map(({ item_id }) => item_id).toSorted();
    const sweepAt = (ageMs: number, holds?: (id: string) => boolean) =>
      createUnsentSweep({
        store,
        bus: rig.bus,
        send: createAttemptSender(rig.bus),
        now: () => new Date(now.getTime() + ageMs),
        ...(holds && { holds }),
      });
    return { messageId, deliveryIds, sweepAt };
  }

  it("[OUT-57] are handed back by nobody as long as their process reserves their message", async () => {
    const { messageId, deliveryIds, sweepAt } = await claimLocally();
    const end = Promise.withResolvers<"aborted">();
    let clockMs = 0;
    const local = createLocalAttempts({
      bus: rig.bus,
      attempts: { make: () => end.promise, hasRoom: () => true },
      applyResults: async () => {},
      concurrency: 2,
      onError: () => {},
      onTooLate: () => {},
      nowMs: () => clockMs,
    });
    const made = local.make([{ messageId, attempts: [create(AttemptSchema)] }], 0, STOPPED);
    expect([local.hasRoom(), local.holds(messageId)]).toEqual([true, true]);
    await sweepAt(30_000, local.holds)(true);
    expect(await storedMessages()).toBe(0);
    // Two reservations are due, the first one for too long.
    clockMs = 5_500;
    expect(local.hasRoom()).toBe(false);
    await local.reserve();
    expect(await storedMessages()).toBe(2);
    expect(local.hasRoom()).toBe(true);
    await local.reserve();
    await sweepAt(12_000)(true);
    expect(await storedMessages()).toBe(2);
    // Nobody has reserved it for the next time.
    await sweepAt(14_000)(true);
    expect(await storedMessages()).toBe(3);
    const asked = published.at(-1)?.attempts.map(({ deliveryId }) => deliveryId);
    expect(asked?.toSorted()).toEqual(deliveryIds);
    end.resolve("aborted");
    await made;
    expect(local.holds(messageId)).toBe(false);
  });

  it("[OUT-57] have results that go to the broker when the database cannot store them", async () => {
    await start("manager");
    const results: AttemptResult[] = [];
    rig.bus.nc.subscribe("attempts.done", {
      callback: (_, message) => void results.push(...fromBinary(AttemptResultBatchSchema, message.data).results),
    });
    const errors: unknown[] = [];
    const local = createLocalAttempts({
      bus: rig.bus,
      attempts: { make: async ({ deliveryId }) => create(AttemptResultSchema, { deliveryId }), hasRoom: () => true },
      applyResults: () => Promise.reject(new Error("no database")),
      concurrency: 1,
      onError: (error) => errors.push(error),
      onTooLate: () => {},
    });
    const attempts = [create(AttemptSchema, { deliveryId: "d" })];
    await local.make([{ messageId: newClaimId(true), attempts }], performance.now(), STOPPED);
    expect(results.map(({ deliveryId }) => deliveryId)).toEqual(["d"]);
    expect(errors).toEqual([new Error("no database")]);
  });
});
