import { randomUUID } from "node:crypto";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { addCost, type PlanCost } from "@toolgate/testbed/plan-cost";
import { expect, test } from "vitest";
import { laneQueue } from "../../src/store/queue.ts";
import { createClaimDeliveries } from "../../src/store/runs/claim.ts";
import { createSettleRuns, type RunRecord } from "../../src/store/runs/settle.ts";
import { newBody } from "../receive-rig.ts";
import { startRunRig } from "./run-rig.ts";

const LOGGED = 20_000;

test("[NFR] a result is stored at the same cost when the log has become long since its statement was planned", async () => {
  await using rig = await startRunRig({ instances: [["receiver"]] });
  await using resources = new AsyncDisposableStack();
  const { databaseUrl: url, caps } = rig.config;
  // One connection, so that all statements below use the same plan.
  const pool = createPipelinePool({ url, maxConnections: 1, applicationName: "test" });
  resources.defer(() => pool.end());
  const queue = laneQueue("tool", caps);
  const [claim, { settle }] = [createClaimDeliveries(pool, queue), createSettleRuns(pool, queue)];
  const hook = await (await rig.newWorkspace()).createHook();
  const runOne = async (): Promise<RunRecord> => {
    await rig.accept(hook, newBody());
    const now = new Date();
    const leaseUntil = new Date(now.getTime() + 60_000);
    const { deliveries } = await claim({ claimId: randomUUID(), leaseUntil, now, maxGroups: 1 });
    const [delivery] = deliveries;
    if (!delivery) throw new Error("nothing is due");
    const { run, attempt: nextAttempt, ...claimed } = delivery;
    const ended = { againAt: null, nextAttempt, durationMs: 1, args: "{}", result: "{}", error: "", executionId: "" };
    return { ...claimed, ...ended, number: run?.number ?? 0, outcome: "succeeded" };
  };
  await settle([await runOne()], new Date(), 5_000);
  await rig.pool.query(
    `with made as (
       insert into inbound_hook.delivery (created_at, id, workspace_id, hook_id, request_id, status, body, content_type, headers, runs)
       select d.created_at - n * interval '1 microsecond', gen_random_uuid(), d.workspace_id, d.hook_id, '', d.status, '', '', '{}', 1
       from inbound_hook.delivery d, generate_series(1, $1::int) n returning created_at, id
     )
     insert into inbound_hook.run (created_at, delivery_id, number, claim_id, status, started_at)
     select created_at, id, 1, gen_random_uuid(), 'succeeded', created_at from made`,
    [LOGGED],
  );
  const record = await runOne();
  const cost: PlanCost = { ways: new Set(), rows: 0 };
  const values = [JSON.stringify([record]), new Date().toISOString()].map((value) => `'${value}'`).join(", ");
  const statement = `execute "${queue.tables}_settle" (${values})`;
  await addCost(pool, { text: statement, prefix: "" }, cost);
  expect(cost.rows).toBeLessThan(50);
  expect((await rig.outcomeOf(record.deliveryId)).status).toBe("succeeded");
});
