import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { lockGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import { expiredGroups, settleParts } from "@toolgate/postgres/fair-queue/settle";
import { inUnlockedGroups } from "@toolgate/postgres/fair-queue/unlocked-groups";
import type { LaneStore } from "../queue.ts";

const ITEMS_PER_EXPIRY = 500;
/** The error of a run whose process died. */
const INTERRUPTED = "interrupted: the process that ran it ended, and what the run did is not known";

/** Renews the leases of running deliveries: as long as that happens, the process that runs the target is alive. */
export async function renewLeases(
  { pool, queue: { tables } }: LaneStore,
  deliveries: readonly { deliveryId: string; workspaceId: string }[],
  leaseUntil: Date,
): Promise<void> {
  const workspaceOf = (delivery: { workspaceId: string }) => delivery.workspaceId;
  await inUnlockedGroups(deliveries, workspaceOf, async (some, lockTimeoutMs) => {
    const renew = {
      name: `${tables}_renew`,
      text: `update ${tables}_item set lease_until = $2 where item_id = any($1::uuid[]) and lease_until < $2`,
      values: [some.map(({ deliveryId }) => deliveryId), leaseUntil],
    };
    await pipelined(pool, [lockGroups(tables, some.map(workspaceOf)), renew], { lockTimeoutMs });
  });
}

/** Marks runs with expired leases as interrupted; they are not repeated. Resolves with how many. */
export async function interruptExpired({ pool, queue }: LaneStore, now: Date): Promise<number> {
  const { tables } = queue;
  const { rows } = await pool.query(expiredGroups(tables, now, ITEMS_PER_EXPIRY));
  const text = interruptText(queue);
  const groupOf = (row: { group_id: string }) => row.group_id;
  let runs = 0;
  await inUnlockedGroups(rows, groupOf, async (some, lockTimeoutMs) => {
    const groups = some.map(groupOf);
    const interrupt = { name: `${tables}_interrupt`, text, values: [groups, now, ITEMS_PER_EXPIRY, INTERRUPTED] };
    const results = await pipelined(pool, [lockGroups(tables, groups), interrupt], { lockTimeoutMs });
    runs += results.at(-1)?.rows[0].runs ?? 0;
  });
  return runs;
}

const interruptText = (queue: FairQueue) => `with settled as materialized (
  select q.item_id, q.group_id, q.member_id, q.created_at, true as in_flight, null::integer as next_attempt,
    null::timestamptz as next_due, null::boolean as failing, $2::timestamptz as settled_at
  from ${queue.tables}_item q
  where q.lease_until is not null and q.lease_until < $2::timestamptz and q.group_id = any($1::text[])
  order by q.lease_until limit $3
),
deliveries_interrupted as (
  update inbound_hook.delivery d set status = 'interrupted', error = $4
  from settled where d.created_at = settled.created_at and d.id = settled.item_id and d.status = 'running'
),
runs_interrupted as (
  update inbound_hook.run r set status = 'interrupted', error = $4
  from settled where r.created_at = settled.created_at and r.delivery_id = settled.item_id and r.status = 'running'
),
${settleParts(queue)}
select count(*)::integer as runs from settled`;
