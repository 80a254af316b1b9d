import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { createClaimStore } from "../../src/store/deliveries/claim.ts";
import { ATTEMPTS_PER_MESSAGE, deliveryQueue } from "../../src/store/queue.ts";
import { newEvent, startOutboundRig } from "../outbound-rig.ts";

const WORKSPACES = 8;
const PER_WORKSPACE = 5;
const QUEUE = deliveryQueue({ perGroup: PER_WORKSPACE, perMember: PER_WORKSPACE, failingPerGroup: 2 });
const LEASE_MS = 45_000;

test("[FAIR] a claim notes for each delivery its message, which has at most 16 and an id of this claim alone", async () => {
  await using rig = await startOutboundRig({ instances: [["manager", "fan-out"]] });
  const { databaseUrl = "" } = rig.config.core ?? {};
  await using resources = new AsyncDisposableStack();
  const connection = { url: databaseUrl, maxConnections: 1, applicationName: "claimed-messages" };
  const pool = resources.adopt(createPipelinePool(connection), (owned) => owned.end());
  const store = createClaimStore(pool, QUEUE);
  const workspaces = Array.from({ length: WORKSPACES }, (_, index) => `workspace-${index}`);
  const ids = new Set<string>();
  for (const round of [1, 2]) {
    for (const workspaceId of workspaces) {
      const name = `${workspaceId}-${round}`;
      await rig.register(name, `/${name}`);
      const events = Array.from({ length: PER_WORKSPACE }, () => newEvent({ workspaceId: name }, rig.clock.now()));
      await rig.reportMany(events);
    }
    const wanted = round * WORKSPACES * PER_WORKSPACE;
    await eventually(async () => (await rig.pool.query("select from outbound_webhook.queue_item")).rowCount === wanted);
    const now = rig.clock.now();
    const { deliveries } = await store.claim(now, new Date(now.getTime() + LEASE_MS));
    expect(deliveries).toHaveLength(WORKSPACES * PER_WORKSPACE);
    const messages = Map.groupBy(deliveries, ({ messageId }) => messageId);
    const sizes = [...messages.values()].map(({ length }) => length).toSorted((a, b) => b - a);
    expect(sizes).toEqual([ATTEMPTS_PER_MESSAGE, ATTEMPTS_PER_MESSAGE, 8]);
    for (const id of messages.keys()) {
      expect(ids.has(id)).toBe(false);
      ids.add(id);
    }
    const { rows } = await rig.pool.query("select item_id, message_id from outbound_webhook.queue_item");
    const noted = new Map(rows.map((row): [string, string] => [row.item_id, row.message_id]));
    for (const { deliveryId, messageId } of deliveries) expect(noted.get(deliveryId)).toBe(messageId);
  }
});
