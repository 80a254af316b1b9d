import { randomUUID } from "node:crypto";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { migrate } from "@toolgate/postgres/migrate";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { testDatabase } from "@toolgate/testbed/test-database";
import { expect, test } from "vitest";
import { createAcceptStore } from "../../src/store/accept.ts";
import { laneQueue } from "../../src/store/queue.ts";
import { maintainPartitions } from "../../src/store/retention.ts";
import { createClaimDeliveries } from "../../src/store/runs/claim.ts";
import { createSettleRuns } from "../../src/store/runs/settle.ts";
import { operatorQueries } from "../operators-page.ts";
import { addHooks, HOOK, newCall, recordOf } from "./rows.ts";

const [BATCHES, CALLS_PER_BATCH] = [40, 250];

/** The space that a vacuum frees is used again, and when it runs depends on the time. */
async function withoutAutovacuum(pool: Pool): Promise<void> {
  const { rows } = await pool.query(
    "select oid::regclass::text as name from pg_class where relnamespace = 'inbound_hook'::regnamespace and relkind = 'r'",
  );
  for (const { name } of rows) await pool.query(`alter table ${name} set (autovacuum_enabled = false)`);
}

test("[NFR] a call takes up as much storage as the operators' page says, about 1.5 KB", async () => {
  await using resources = new AsyncDisposableStack();
  const { url } = resources.use(await testDatabase());
  const connection = { url, maxConnections: 1, applicationName: "test" };
  const pool = resources.adopt(createPool(connection), (owned) => owned.end());
  const queuePool = resources.adopt(createPipelinePool(connection), (owned) => owned.end());
  await migrate({ pool, ...migrationsOf("inbound-hook") });
  await maintainPartitions(pool, new Date());
  await withoutAutovacuum(pool);
  await addHooks(pool, HOOK, HOOK);
  const queue = laneQueue("tool", { perGroup: CALLS_PER_BATCH });
  const { store } = createAcceptStore(queuePool, "tool", queue);
  const claim = createClaimDeliveries(queuePool, queue);
  const { settle } = createSettleRuns(queuePool, queue);
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const calls = Array.from({ length: CALLS_PER_BATCH }, newCall);
    await store(calls, { sendBefore: Number.POSITIVE_INFINITY, lockTimeoutMs: 5_000 });
    const now = new Date();
    const leaseUntil = new Date(now.getTime() + 600_000);
    const { deliveries } = await claim({ claimId: randomUUID(), leaseUntil, now, maxGroups: 1 });
    expect(deliveries).toHaveLength(CALLS_PER_BATCH);
    const records = deliveries.map((delivery) => recordOf(delivery, "succeeded"));
    await settle(records, new Date(), 5_000);
  }
  await pool.query("analyze inbound_hook.delivery");
  const [query] = (await operatorQueries()).filter((text) => text.includes("bytes_per_call"));
  const { rows } = await pool.query(query ?? "");
  expect(Number(rows[0].bytes_per_call)).toBeGreaterThan(1_200);
  expect(Number(rows[0].bytes_per_call)).toBeLessThan(1_800);
});
