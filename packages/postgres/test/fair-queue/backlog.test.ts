import { afterAll, beforeAll, expect, it } from "vitest";
import { prepareClaim } from "../../src/fair-queue/claim.ts";
import { lockDueGroups } from "../../src/fair-queue/lock.ts";
import { createPool } from "../../src/pool.ts";
import { QUEUE, type QueueRig, startQueueRig } from "./queue-rig.ts";

const BACKLOG_ITEMS = 200_000;
/** Pages of 8 kB that a claim of one group may touch; a scan of the backlog would touch thousands. */
const MAX_PAGES = 400;
const NOW = new Date("2026-11-01T12:00:00Z");

let rig: QueueRig;
beforeAll(async () => {
  rig = await startQueueRig();
  await rig.sql("insert into work.queue_group (group_id, ready_at) values ('loaded', '2026-11-01')");
  await rig.sql(
    "insert into work.queue_member (group_id, member_id, ready_at) select 'loaded', m, '2026-11-01' from generate_series(1, 20) m",
  );
  await rig.sql(
    `insert into work.queue_item (item_id, group_id, member_id, created_at, due_at)
     select gen_random_uuid(), 'loaded', 1 + n % 20, '2026-11-01', timestamptz '2026-11-01' + n * interval '1 ms'
     from generate_series(1, $1::int) n`,
    [BACKLOG_ITEMS],
  );
});
afterAll(() => rig[Symbol.asyncDispose]());

interface Plan {
  "Node Type": string;
  "Relation Name"?: string;
  Plans?: Plan[];
}

function scans(plan: Plan): string[] {
  const own = plan["Node Type"] === "Seq Scan" ? [plan["Relation Name"] ?? ""] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(scans)];
}

async function explainClaim(): Promise<{ pages: number; seqScans: string[] }> {
  const plain = createPool({ url: rig.url, maxConnections: 1, applicationName: "explain" });
  const client = await plain.connect();
  await client.query("set enable_seqscan = off; set plan_cache_mode = force_generic_plan; set jit = off; begin");
  const select = { name: "x", text: "select * from claimed" };
  const lock = lockDueGroups(QUEUE.tables, NOW, 50);
  const claim = prepareClaim(QUEUE, select)({ now: NOW, leaseUntil: NOW });
  await client.query({ text: lock.text, values: lock.values });
  const types = ["timestamptz", "timestamptz"].join(", ");
  await client.query(`prepare claim (${types}) as ${claim.text}`);
  const { rows } = await client.query(
    `explain (analyze, buffers, format json) execute claim ('${NOW.toISOString()}', '${NOW.toISOString()}')`,
  );
  await client.query("rollback");
  client.release();
  await plain.end();
  const root = rows[0]["QUERY PLAN"][0].Plan;
  return { pages: root["Shared Hit Blocks"] + root["Shared Read Blocks"], seqScans: scans(root) };
}

it("[FAIR] a claim touches a bounded number of pages with a backlog of any length", async () => {
  const { pages, seqScans } = await explainClaim();
  expect(seqScans).toEqual([]);
  expect(pages).toBeLessThan(MAX_PAGES);
});

it("[FAIR] 200,000 waiting items of one group do not hide the first item of another", async () => {
  await rig.add([{ groupId: "light", memberId: 77, dueAt: NOW }]);
  const claimed = await rig.claim(NOW);
  expect(claimed.filter((item) => item.groupId === "light")).toHaveLength(1);
  expect(claimed.filter((item) => item.groupId === "loaded")).toHaveLength(5);
});
