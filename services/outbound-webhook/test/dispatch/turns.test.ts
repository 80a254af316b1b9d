import { prepareClaim } from "@toolgate/postgres/fair-queue/claim";
import { createPipelinePool, pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { createApplyResults } from "../../src/store/deliveries/apply-results.ts";
import { deliveryQueue } from "../../src/store/queue.ts";
import { newEvent, startOutboundRig } from "../outbound-rig.ts";

const QUEUE = deliveryQueue({ perGroup: 5, perMember: 2, failingPerGroup: 2 });
const LEASE_MS = 45_000;

test("[FAIR-5] a workspace that was served for 20 s goes behind one that waits, but not earlier", async () => {
  await using rig = await startOutboundRig({ instances: [["manager", "fan-out"]] });
  const { databaseUrl = "" } = rig.config.core ?? {};
  await using resources = new AsyncDisposableStack();
  const connection = { url: databaseUrl, maxConnections: 1, applicationName: "turns" };
  const pool = resources.adopt(createPipelinePool(connection), (owned) => owned.end());
  const select = "select item_id, group_id, attempt from claimed";
  const claimFirst = prepareClaim(QUEUE, { name: "claim_first_workspace", text: select });
  const applyResults = createApplyResults(pool, QUEUE);
  /** One turn of the next workspace, whose attempts end immediately. */
  async function serve(now: Date): Promise<string> {
    const leaseUntil = new Date(now.getTime() + LEASE_MS);
    const [, claimed] = await pipelined(pool, claimFirst({ now, leaseUntil, maxGroups: 1, values: ["claim"] }));
    const rows = claimed?.rows ?? [];
    const ended = rows.map(({ item_id: deliveryId, group_id: workspaceId, attempt: number }) => ({
      deliveryId,
      workspaceId,
      number,
      endedAt: now,
      verdict: "cancelled" as const,
    }));
    await applyResults(ended, now);
    return rows[0]?.group_id;
  }
  const queued = (items: number) =>
    eventually(async () => (await rig.pool.query("select from outbound_webhook.queue_item")).rowCount === items);

  await rig.register("busy", "/busy");
  await rig.reportMany(Array.from({ length: 60 }, () => newEvent({ workspaceId: "busy" }, rig.clock.now())));
  await queued(60);
  const start = rig.clock.now().getTime();
  const at = (second: number) => new Date(start + second * 1_000);
  expect(await serve(at(0))).toBe("busy");
  rig.clock.advance(3_000);
  await rig.register("patient", "/patient");
  await rig.report({ workspaceId: "patient" });
  await queued(59);

  for (const second of [5, 10, 19]) expect(await serve(at(second)), `${second} s`).toBe("busy");
  expect(await serve(at(21)), "begins its next turn").toBe("busy");
  expect(await serve(at(21))).toBe("patient");
});
