import { addParts } from "@toolgate/postgres/fair-queue/add";
import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { makeAndLockGroups } from "@toolgate/postgres/fair-queue/lock";
import type { Queryable } from "@toolgate/postgres/pool";
import { createdAtOf } from "@toolgate/postgres/timed-id";
import type { Lane } from "../queue.ts";

/** The hook and the lane of a hook delivery that runs again. */
export interface Reprocessing {
  hook: { id: number; name: string };
  lane: Lane;
}

type ReprocessResult = Reprocessing | "no-such-delivery" | "hook-deleted" | "not-ended" | "too-many-runs";

interface ReprocessRequest {
  workspaceId: string;
  deliveryId: string;
  /** Email of the user who requested it. */
  requestedBy: string;
  now: Date;
}

/** The log shows all runs of a hook delivery in one response. */
const MAX_RUNS = 100;

/** [IN-13] Queues a delivery again, in the caller's transaction; its next claim starts the next run. */
export async function queueAgain(
  db: Queryable,
  queues: Readonly<Record<Lane, FairQueue>>,
  { workspaceId, deliveryId, requestedBy, now }: ReprocessRequest,
): Promise<ReprocessResult> {
  const createdAt = createdAtOf(deliveryId);
  if (!createdAt) return "no-such-delivery";
  const key = [createdAt, deliveryId, workspaceId];
  const found = await db.query(
    `select h.id, h.name, h.target_kind as lane, h.deleted_at is not null as deleted
     from inbound_hook.delivery d join inbound_hook.hook h on h.id = d.hook_id
     where d.created_at = $1 and d.id = $2 and d.workspace_id = $3`,
    key,
  );
  const [hook] = found.rows as { id: number; name: string; lane: Lane; deleted: boolean }[];
  if (!hook) return "no-such-delivery";
  if (hook.deleted) return "hook-deleted";
  const queue = queues[hook.lane];
  // While this lock is held, no claim and no result changes the delivery.
  for (const statement of makeAndLockGroups(queue.tables, [workspaceId])) await db.query(statement);
  const { rows } = await db.query(
    `select status, runs from inbound_hook.delivery where created_at = $1 and id = $2 and workspace_id = $3`,
    key,
  );
  const [delivery] = rows as { status: string; runs: number }[];
  if (!delivery) return "no-such-delivery";
  if (delivery.status === "waiting" || delivery.status === "running") return "not-ended";
  if (delivery.runs >= MAX_RUNS) return "too-many-runs";
  await db.query({
    name: `${queue.tables}_again`,
    text: queueAgainText(queue),
    values: [createdAt, deliveryId, workspaceId, hook.id, requestedBy, now],
  });
  return { hook: { id: hook.id, name: hook.name }, lane: hook.lane };
}

const queueAgainText = (queue: FairQueue) => `with written as (
  update inbound_hook.delivery
  set status = 'waiting', duration_ms = 0, error = '', requested_by = $5
  where created_at = $1 and id = $2
),
queued as materialized (
  select $2::uuid as item_id, $3::text as group_id, $4::bigint as member_id, $6::timestamptz as due_at,
    $1::timestamptz as created_at
),
${addParts(queue)}
select`;
