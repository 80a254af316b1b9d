import { eventually } from "@toolgate/testbed/eventually";
import { startTcpProxy } from "@toolgate/testbed/servers/tcp-proxy";
import { afterAll, beforeAll, expect, test } from "vitest";
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
