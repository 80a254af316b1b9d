import { create } from "@bufbuild/protobuf";
import { AttemptResultSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { toRecord } from "../../src/events/attempt-record.ts";
import { createApplyResults } from "../../src/store/deliveries/apply-results.ts";
import { type ClaimedDelivery, createClaimStore } from "../../src/store/deliveries/claim.ts";
import { deliveryQueue } from "../../src/store/queue.ts";
import { newEvent, startOutboundRig } from "../outbound-rig.ts";

const QUEUE = deliveryQueue({ perGroup: 5, perMember: 2, failingPerGroup: 2 });
const LEASE_MS = 45_000;

test("[FAIR] results that free a slot report work that was added meanwhile, but not work that is due later", async () => {
  await using rig = await startOutboundRig({ instances: [["manager", "fan-out"]] });
  const { databaseUrl = "" } = rig.config.core ?? {};
  await using resources = new AsyncDisposableStack();
  const connection = { url: databaseUrl, maxConnections: 1, applicationName: "freed-slots" };
  const pool = resources.adopt(createPipelinePool(connection), (owned) => owned.end());
  const store = createClaimStore(pool, QUEUE);
  const applyResults = createApplyResults(pool, QUEUE);
  const claim = async (now: Date) => (await store.claim(now, new Date(now.getTime() + LEASE_MS))).deliveries;
  const results = (deliveries: readonly ClaimedDelivery[], responseCode: number, now: Date) =>
    deliveries.map(({ deliveryId, workspaceId, number }) => {
      const startedAtMs = BigInt(now.getTime());
      const result = create(AttemptResultSchema, { deliveryId, workspaceId, number, responseCode, startedAtMs });
      return toRecord(result, now) ?? expect.fail("no record");
    });
  const queued = (items: number) =>
    eventually(async () => (await rig.pool.query("select from outbound_webhook.queue_item")).rowCount === items);

  await rig.register("w", "/1");
  await rig.reportMany([1, 2].map(() => newEvent({ workspaceId: "w" }, rig.clock.now())));
  await queued(2);
  const tookAt = rig.clock.now();
  const taken = await claim(tookAt);
  rig.clock.advance(50);
  await rig.report({ workspaceId: "w" });
  await queued(3);
  expect(await claim(rig.clock.now()), "both slots of the endpoint are taken").toEqual([]);
  expect(await applyResults(results(taken, 200, tookAt), tookAt), "there is work").toBe(true);
  const now = rig.clock.now();
  const third = await claim(now);
  expect(third).toHaveLength(1);
  expect(await applyResults(results(third, 500, now), now), "its retry is due in a minute").toBe(false);
});
