import { addParts } from "@toolgate/postgres/fair-queue/add";
import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { makeAndLockGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import { createdAtOf } from "@toolgate/postgres/timed-id";
import type { LaneStore } from "../queue.ts";

interface ReprocessRequest {
  workspaceId: string;
  deliveryId: string;
  hookId: number;
  /** Email of the user who requested it. */
  requestedBy: string;
  now: Date;
  /** Written if the delivery is queued. */
  auditRow: [id: string, at: Date, record: Buffer];
}

/** The log shows all runs of a hook delivery in one response. */
const MAX_RUNS = 100;

/**
 * [IN-13] Queues a delivery again; its next claim starts the next run. Everything is sent together, because while the
 * queue of the workspace is locked, no call for it is accepted.
 */
export async function queueAgain(
  { pool, queue }: LaneStore,
  { workspaceId, deliveryId, hookId, requestedBy, now, auditRow }: ReprocessRequest,
): Promise<"queued" | "no-such-delivery" | "not-ended" | "too-many-runs"> {
  const values = [createdAtOf(deliveryId), deliveryId, workspaceId, hookId, requestedBy, now, MAX_RUNS, ...auditRow];
  const results = await pipelined(pool, [
    ...makeAndLockGroups(queue.tables, [workspaceId]),
    { name: `${queue.tables}_again`, text: queueAgainText(queue), values },
  ]);
  const [delivery] = (results.at(-1)?.rows ?? []) as { status: string; runs: number }[];
  if (!delivery) return "no-such-delivery";
  if (delivery.status === "waiting" || delivery.status === "running") return "not-ended";
  return delivery.runs >= MAX_RUNS ? "too-many-runs" : "queued";
}

/** Returns the delivery as it was before. While the lock is held, no claim and no result changes it. */
const queueAgainText = (queue: FairQueue) => `with written as (
  update inbound_hook.delivery
  set status = 'waiting', duration_ms = 0, error = '', requested_by = $5
  where created_at = $1 and id = $2 and workspace_id = $3 and status not in ('waiting', 'running') and runs < $7
  returning id, created_at
),
audited as (
  insert into inbound_hook.audit_outbox (id, at, record) select $8::uuid, $9::timestamptz, $10::bytea from written
),
queued as materialized (
  select id as item_id, $3::text as group_id, $4::bigint as member_id, $6::timestamptz as due_at, created_at from written
),
${addParts(queue)}
select status, runs from inbound_hook.delivery where created_at = $1 and id = $2 and workspace_id = $3`;
