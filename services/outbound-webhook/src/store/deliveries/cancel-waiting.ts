import { cancelParts, forgetParts } from "@toolgate/postgres/fair-queue/cancel";
import { lockGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import type { Pool } from "@toolgate/postgres/pool";
import { QUEUE_TABLES } from "../queue.ts";

/** Keeps a transaction short, because the workspace's other deliveries wait for it. */
const ROWS_PER_TRANSACTION = 1_000;

const TEXT = `with unwanted as (
  select workspace_id as group_id, id as member_id from outbound_webhook.endpoint
  where id = $1 and (not active or deleted_at is not null)
),
${cancelParts(QUEUE_TABLES, ROWS_PER_TRANSACTION)},
written as (
  update outbound_webhook.delivery d
  set status = 'cancelled', indexed_status = 'cancelled', next_attempt_at = null, finished_at = $2
  from cancelled where d.created_at = cancelled.created_at and d.id = cancelled.item_id
)
select count(*)::integer as items from cancelled`;

const FORGET_TEXT = `with gone as (
  select workspace_id as group_id, id as member_id from outbound_webhook.endpoint
  where id = $1 and deleted_at is not null
),
${forgetParts(QUEUE_TABLES)}
select 1`;

/**
 * Cancels the deliveries that wait for an endpoint, unless it is active. Attempts in flight end as usual; a delivery
 * that is still waiting after a crash is cancelled when it is due. The queue forgets a deleted endpoint once it has no
 * deliveries left.
 */
export async function cancelWaiting(
  pool: Pool,
  { workspaceId, endpointId }: { workspaceId: string; endpointId: number },
  now: Date,
): Promise<void> {
  for (;;) {
    const [, result] = await pipelined(pool, [
      lockGroups(QUEUE_TABLES, [workspaceId]),
      { name: "cancel_waiting", text: TEXT, values: [endpointId, now] },
      { name: "forget_endpoint", text: FORGET_TEXT, values: [endpointId] },
    ]);
    if (result?.rows[0].items < ROWS_PER_TRANSACTION) return;
  }
}
