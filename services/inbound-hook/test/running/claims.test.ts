import { randomUUID } from "node:crypto";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { eventually } from "@toolgate/testbed/eventually";
import { startTcpProxy } from "@toolgate/testbed/tcp-proxy";
import { afterAll, beforeAll, expect, test } from "vitest";
import { laneQueue } from "../../src/store/queue.ts";
import { createClaimDeliveries } from "../../src/store/runs/claim.ts";
import { createSettleRuns } from "../../src/store/runs/settle.ts";
import type { TestWorkspace } from "../hook-rig.ts";
import { newBody } from "../receive-rig.ts";
import { type RunRig, startRunRig } from "./run-rig.ts";

/** The name of the runner's connections to Postgres. */
const CONNECTION = "runner behind a proxy";

let rig: RunRig;
let workspace: TestWorkspace;
beforeAll(async () => {
  rig = await startRunRig({ instances: [["receiver"]] });
  workspace = await rig.newWorkspace();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

test("[IN-58] a return that is stored twice does not undo the next claim of the same run", async () => {
  await using resources = new AsyncDisposableStack();
  const { databaseUrl: url, caps } = rig.config;
  const pool = createPipelinePool({ url, maxConnections: 2, applicationName: "test" });
  resources.defer(() => pool.end());
  const queue = laneQueue("tool", caps);
  const [claim, { settle }] = [createClaimDeliveries(pool, queue), createSettleRuns(pool, queue)];
  const claimOne = async () => {
    const now = new Date();
    const leaseUntil = new Date(now.getTime() + 60_000);
    const { deliveries } = await claim({ claimId: randomUUID(), leaseUntil, now, maxGroups: 1 });
    const [delivery] = deliveries;
    if (!delivery) throw new Error("nothing is due");
    return delivery;
  };
  const id = await rig.accept(await workspace.createHook(), newBody());
  const { run, attempt: nextAttempt, ...first } = await claimOne();
  const notRun = { againAt: new Date(0), nextAttempt, durationMs: 0, args: "", result: "", error: "", executionId: "" };
  const returned = { ...first, ...notRun, number: run?.number ?? 0, outcome: "returned" } as const;
  expect(await settle([returned], new Date(), 5_000), "more waits").toBe(true);
  expect(await rig.outcomeOf(id)).toMatchObject({ status: "waiting", runs: [] });
  const second = await eventually(claimOne);
  expect(second.run?.number).toBe(1);
  await settle([returned], new Date(), 5_000);
  expect(await rig.outcomeOf(id)).toMatchObject({ status: "running", runs: [{ number: 1, status: "running" }] });
  const succeeded = { ...returned, claimId: second.claimId, outcome: "succeeded", againAt: null } as const;
  expect(await settle([succeeded], new Date(), 5_000), "more waits").toBe(false);
  expect(await rig.outcomeOf(id)).toMatchObject({ status: "succeeded" });
});

test("[IN-33] [IN-58] deliveries of a claim whose response was lost return to the queue, and run as if they had never been claimed", async () => {
  await using proxy = await startTcpProxy(rig.config.databaseUrl);
  const hook = await workspace.createHook();
  const databaseUrl = new URL(proxy.url);
  databaseUrl.searchParams.set("application_name", CONNECTION);
  await rig.start(["runner"], { databaseUrl: databaseUrl.href });
  const ids = await eventually(async () => {
    expect(await rig.ended(await rig.accept(hook, newBody()))).toMatchObject({ status: "succeeded" });
    await eventually(() => isIdle());
    proxy.loseResponses();
    const accepted = await Promise.all([1, 2, 3].map(() => rig.accept(hook, newBody())));
    // If the runner sent another statement first, it waits for its lost response and claims nothing.
    const claimed = await eventually(() => isClaimed(accepted), { deadlineMs: 4_000 }).catch(() => false);
    proxy.cut();
    return claimed && accepted;
  });
  for (const id of ids) {
    expect(await rig.ended(id)).toMatchObject({ status: "succeeded", runs: [{ number: 1, status: "succeeded" }] });
  }
  const { rows } = await rig.pool.query("select count(*)::integer as runs from inbound_hook.run where number > 1");
  expect(rows[0].runs).toBe(0);
});

/** Whether the runner has sent nothing for a moment. */
async function isIdle(): Promise<boolean> {
  const { rows } = await rig.pool.query(
    "select state = 'idle' and state_change < now() - interval '200 ms' as idle from pg_stat_activity where application_name = $1",
    [CONNECTION],
  );
  return rows.length > 0 && rows.every(({ idle }) => idle);
}

async function isClaimed(ids: readonly string[]): Promise<boolean> {
  const outcomes = await Promise.all(ids.map(rig.outcomeOf));
  return outcomes.some(({ status }) => status === "running");
}
