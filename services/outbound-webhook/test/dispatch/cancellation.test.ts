import { create } from "@bufbuild/protobuf";
import { createWakeUp } from "@toolgate/event-bus/wake-up";
import { AttemptResultSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { DeliveryKind, DeliveryStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { FAILURES_TO_DEACTIVATE } from "../../src/domain/outcome.ts";
import { toRecord } from "../../src/events/attempt-record.ts";
import { runCancellations } from "../../src/events/cancel-loop.ts";
import { applyResults } from "../../src/store/deliveries/apply-results.ts";
import { CANCELLED_PER_TRANSACTION, nextToCancel } from "../../src/store/deliveries/cancel-waiting.ts";
import { type ClaimedDelivery, claimDeliveries } from "../../src/store/deliveries/claim.ts";
import { deleteEndpoint, type EndpointKey, updateEndpoint } from "../../src/store/endpoint.ts";
import { deliveryQueue, SERIES_LENGTH } from "../../src/store/queue.ts";
import { newEvent, startOutboundRig } from "../outbound-rig.ts";
import { type BacklogDatabase, startBacklogDatabase } from "./backlog.ts";

const QUEUE = deliveryQueue({ perGroup: 5, perMember: 2, failingPerGroup: 2 });
/** Two slots. */
const CLAIMED = 2 * SERIES_LENGTH;
const NOW = new Date("2026-11-10T12:00:00Z");
const LEASE_MS = 45_000;
const after = (ms: number) => new Date(NOW.getTime() + ms);
/** Takes three transactions. */
const LONG_BACKLOG = 2 * CANCELLED_PER_TRANSACTION + 100;

describe("the deliveries that wait for a deactivated or deleted endpoint", () => {
  let database: BacklogDatabase;
  let running: AsyncDisposableStack;
  let errors: unknown[];
  beforeEach(async () => {
    database = await startBacklogDatabase(NOW);
    running = new AsyncDisposableStack();
    errors = [];
  });
  afterEach(async () => {
    await running.disposeAsync();
    await database[Symbol.asyncDispose]();
  });

  const deactivate = (key: EndpointKey, now: Date) =>
    updateEndpoint(database.pool, key, { active: false, savedBy: "someone", now });
  const claim = async (now: Date) => {
    const leaseUntil = new Date(now.getTime() + LEASE_MS);
    return (await claimDeliveries(database.queuePool, QUEUE, now, leaseUntil)).deliveries;
  };
  const gone = ({ deliveryId, workspaceId, number }: ClaimedDelivery) => {
    const startedAtMs = BigInt(NOW.getTime());
    const result = create(AttemptResultSchema, { deliveryId, workspaceId, number, responseCode: 410, startedAtMs });
    return toRecord(result, NOW);
  };

  /** Runs the loop, whose clock goes on with each transaction. */
  function cancelInBackground(): void {
    let transactions = 0;
    const stopping = new AbortController();
    const ended = runCancellations({
      queuePool: database.queuePool,
      cancelWakeUp: createWakeUp(),
      announceWork: () => {},
      now() {
        transactions += 1;
        return after(1_000 + transactions);
      },
      signal: stopping.signal,
      onError: (error) => errors.push(error),
    });
    running.defer(async () => {
      stopping.abort();
      await ended;
    });
  }

  it.each([
    ["was deleted", (key: EndpointKey) => deleteEndpoint(database.pool, key, NOW)],
    [
      "is deactivated by them",
      ({ endpointId }: EndpointKey) =>
        database.pool.query("update outbound_webhook.endpoint set failures_in_a_row = $2 where id = $1", [
          endpointId,
          FAILURES_TO_DEACTIVATE - 1,
        ]),
    ],
  ])(
    "[FAIR] results are stored in one transaction, without cancelling the backlog, when the endpoint %s",
    async (_name, change) => {
      const key = await database.addEndpoint("w");
      await database.addBacklog(key, LONG_BACKLOG, NOW);
      const claimed = await claim(NOW);
      expect(claimed).toHaveLength(CLAIMED);
      await change(key);
      let transactions = 0;
      database.queuePool.on("acquire", () => {
        transactions += 1;
      });
      await applyResults(database.queuePool, QUEUE, claimed.map(gone), NOW);
      expect(transactions).toBe(1);
      expect(await database.statuses("w")).toEqual({ failed: CLAIMED, pending: LONG_BACKLOG - CLAIMED });
      cancelInBackground();
      await eventually(async () => {
        expect(await database.statuses("w")).toEqual({ failed: CLAIMED, cancelled: LONG_BACKLOG - CLAIMED });
      });
    },
  );

  it("[FAIR] [OUT] those that a process has left are cancelled, of each workspace in turn, a few in a transaction", async () => {
    const keys = [await database.addEndpoint("w1"), await database.addEndpoint("w2")];
    for (const key of keys) {
      await database.addBacklog(key, LONG_BACKLOG, NOW);
      await deleteEndpoint(database.pool, key, NOW);
    }
    cancelInBackground();
    await eventually(async () => (await nextToCancel(database.queuePool, "")) === undefined);
    const { rows } = await database.pool.query(
      "select workspace_id from outbound_webhook.delivery group by workspace_id, finished_at order by finished_at",
    );
    expect(rows.map((row) => row.workspace_id)).toEqual(["w1", "w2", "w1", "w2", "w1", "w2"]);
    for (const { workspaceId } of keys) {
      expect(await database.statuses(workspaceId)).toEqual({ cancelled: LONG_BACKLOG });
    }
    expect((await database.pool.query("select from outbound_webhook.queue_member")).rowCount).toBe(0);
    expect(errors).toEqual([]);
  });

  it("[OUT] an endpoint that is active again before they are cancelled gets only those that were made afterwards", async () => {
    const key = await database.addEndpoint("w");
    await database.addBacklog(key, 1, NOW);
    await deactivate(key, after(10));
    await updateEndpoint(database.pool, key, { active: true, savedBy: "someone", now: after(20) });
    await database.addBacklog(key, 1, after(30));
    const claimed = await claim(after(40));
    expect(claimed.map(({ wanted }) => wanted)).toEqual([false, true]);
    const leaseUntil = after(40 + LEASE_MS);
    const returned = claimed.map((delivery) => ({ ...delivery, verdict: "returned", leaseUntil }) as const);
    await applyResults(database.queuePool, QUEUE, returned, after(40));
    cancelInBackground();
    await eventually(async () => expect(await database.statuses("w")).toEqual({ cancelled: 1, pending: 1 }));
    expect((await claim(after(50))).map(({ wanted }) => wanted)).toEqual([true]);
  });
});

test("[OUT] [OUT-54] deactivating an endpoint cancels a long backlog, but not a test event that is sent afterwards", async () => {
  await using rig = await startOutboundRig({ instances: [["manager", "fan-out"]] });
  const { id: endpointId } = await rig.register("w", "/w");
  await rig.reportMany(Array.from({ length: LONG_BACKLOG }, () => newEvent({ workspaceId: "w" }, rig.clock.now())));
  const count = async (status: string) => {
    const text = "select from outbound_webhook.delivery where status = $1";
    return (await rig.pool.query(text, [status])).rowCount;
  };
  await eventually(async () => (await count("pending")) === LONG_BACKLOG);
  await rig.endpoints({ workspaceId: "w" }).updateEndpoint({ endpointId, active: false });
  rig.clock.advance(1);
  await rig.endpoints({ workspaceId: "w" }).sendTestEvent({ endpointId });
  await eventually(async () => (await count("cancelled")) === LONG_BACKLOG);
  const { deliveries } = await rig.deliveries({ workspaceId: "w" }).listDeliveries({ kind: DeliveryKind.TEST });
  expect(deliveries).toMatchObject([{ status: DeliveryStatus.PENDING }]);
});
