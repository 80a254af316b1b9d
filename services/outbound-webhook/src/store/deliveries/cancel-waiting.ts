import { cancelParts, forgetParts } from "@toolgate/postgres/fair-queue/cancel";
import { lockGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import type { Pool, Queryable } from "@toolgate/postgres/pool";
import type { EndpointKey } from "../endpoint.ts";
import { QUEUE_TABLES } from "../queue.ts";

/** Keeps a transaction short, because results wait for it: those of this workspace, and those of others in the same batch. */
export const CANCELLED_PER_TRANSACTION = 200;
/** So short that the loops of many processes do not queue before the results that wait for the same lock. */
const LOCK_TIMEOUT_MS = 20;

const NEXT = `select workspace_id as "workspaceId", id as "endpointId" from outbound_webhook.endpoint
where cancel_until is not null order by workspace_id <= $1, workspace_id, id limit 1`;

const CANCEL = `with unwanted as (
  select workspace_id as group_id, id as member_id, cancel_until as made_until from outbound_webhook.endpoint
  where id = $1 and cancel_until is not null
),
${cancelParts(QUEUE_TABLES, CANCELLED_PER_TRANSACTION)},
written as (
  update outbound_webhook.delivery d
  set status = 'cancelled', next_attempt_at = null, finished_at = $2
  from cancelled where d.created_at = cancelled.created_at and d.id = cancelled.item_id
)
update outbound_webhook.endpoint set cancel_until = null
where id = $1 and cancel_until is not null and (select count(*) from cancelled) < ${CANCELLED_PER_TRANSACTION}`;

const FORGET = `with gone as (
  select workspace_id as group_id, id as member_id from outbound_webhook.endpoint
  where id = $1 and deleted_at is not null
),
${forgetParts(QUEUE_TABLES)}
select 1`;

/**
 * An endpoint with deliveries to be cancelled: of the next workspace after this one, in turn. Endpoints that were deactivated or
 * deleted are marked with the time (`cancel_until`) in the same transaction. The deliveries that were made until then and
 * still wait are cancelled afterwards, a few at a time. Attempts in flight end as usual.
 */
export async function nextToCancel(db: Queryable, afterWorkspaceId: string): Promise<EndpointKey | undefined> {
  const { rows } = await db.query({ name: "next_to_cancel", text: NEXT, values: [afterWorkspaceId] });
  return rows[0];
}

/**
 * Cancels the oldest of the endpoint's deliveries in one transaction, and removes the mark when there are no others. The
 * queue forgets a deleted endpoint once it has no deliveries left. Fails (`isLockTimeout`) if the workspace stays locked.
 */
export async function cancelSome(pool: Pool, { workspaceId, endpointId }: EndpointKey, now: Date): Promise<void> {
  const statements = [
    lockGroups(QUEUE_TABLES, [workspaceId]),
    { name: "cancel_waiting", text: CANCEL, values: [endpointId, now] },
    { name: "forget_endpoint", text: FORGET, values: [endpointId] },
  ];
  await pipelined(pool, statements, { unlockEarly: true, lockTimeoutMs: LOCK_TIMEOUT_MS });
}
