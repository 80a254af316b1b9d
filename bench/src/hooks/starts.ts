import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "@toolgate/postgres/pool";
import type { BenchInstallation } from "../installation/start-installation.ts";
import type { BenchHook } from "./bench-hooks.ts";

const POLL_MS = 100;
const DRAIN_MS = 180_000;
const LOGGED_MS = 30_000;

type Servers = Pick<BenchInstallation["servers"], "pool" | "bus">;

type Sent = { hooks: readonly BenchHook[]; from: Date; until: Date };

/** Milliseconds from the arrival of a call until its tool started, for the calls of these hooks that arrived in this time. */
export async function readStarts(pool: Pool, { hooks, from, until }: Sent): Promise<number[]> {
  const { rows } = await pool.query({
    text: `select extract(epoch from e.started_at - d.created_at) * 1000 as ms
           from inbound_hook.delivery d
           join inbound_hook.run r on r.created_at = d.created_at and r.delivery_id = d.id
           join tool_runner.executions e on e.id::text = r.execution_id and e.started_at >= $2
           where d.hook_id = any($1::bigint[]) and d.created_at >= $2 and d.created_at < $3`,
    values: [hooks.map(({ id }) => id), from, until],
  });
  return rows.map(({ ms }) => Number(ms));
}

/** As if three long runs of each of these workspaces were under way: their other calls wait. */
export async function holdRuns(pool: Pool, hooks: readonly BenchHook[], lane: "tool" | "assistant"): Promise<void> {
  await pool.query({
    text: `insert into inbound_hook.${lane}_queue_group (group_id, in_flight)
           select distinct id, 3 from unnest($1::text[]) as ids (id)
           on conflict (group_id) do update set in_flight = 3, ready_at = 'infinity'`,
    values: [hooks.map(({ workspaceId }) => workspaceId)],
  });
}

/** Ends what `holdRuns` began. */
export async function releaseRuns({ pool, bus }: Servers, hooks: readonly BenchHook[]): Promise<void> {
  await pool.query({
    text: "update inbound_hook.tool_queue_group set in_flight = 0, ready_at = now() where group_id = any($1::text[])",
    values: [hooks.map(({ workspaceId }) => workspaceId)],
  });
  bus.nc.publish("hook-runs.tool");
}

/** Waits until every call of these hooks has run; returns how many have not when the time is up. */
export async function untilRun({ pool }: Servers, hooks: readonly BenchHook[], signal: AbortSignal): Promise<number> {
  const members = [hooks.map(({ id }) => id)];
  const waiting = (limit: string) =>
    pool.query(`select from inbound_hook.tool_queue_item where member_id = any($1::bigint[]) ${limit}`, members);
  const deadline = performance.now() + DRAIN_MS;
  while ((await waiting("limit 1")).rowCount !== 0) {
    if (performance.now() > deadline) return (await waiting("")).rowCount ?? 0;
    await sleep(POLL_MS, undefined, { signal });
  }
  return 0;
}

/** Deletes the calls of a hook that wait, until none run any more: what could not be started waits again. */
export async function endRuns({ pool }: Servers, hook: BenchHook, lane: "tool" | "assistant", signal: AbortSignal) {
  const deadline = performance.now() + DRAIN_MS;
  for (;;) {
    // The lock keeps claims away.
    await pool.query(
      `begin; select from inbound_hook.${lane}_queue_group where group_id = '${hook.workspaceId}' for update;
       delete from inbound_hook.${lane}_queue_item where member_id = ${hook.id} and lease_until is null; commit`,
    );
    const left = await pool.query(`select from inbound_hook.${lane}_queue_item where member_id = $1 limit 1`, [
      hook.id,
    ]);
    if (left.rowCount === 0) return;
    if (performance.now() > deadline) throw new Error("runs of a disturbance do not end");
    await sleep(POLL_MS, undefined, { signal });
  }
}

/** Waits until the execution log has every run. */
export async function untilLogged({ pool }: Servers, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + LOGGED_MS;
  for (;;) {
    const { rows } = await pool.query(
      `select (select count(*)::integer from inbound_hook.run where execution_id <> '')
         - (select count(*)::integer from tool_runner.executions where entry_type = 'hook') as missing`,
    );
    if (rows[0].missing <= 0) return;
    if (performance.now() > deadline) throw new Error(`${rows[0].missing} runs are not in the execution log`);
    await sleep(POLL_MS, undefined, { signal });
  }
}
