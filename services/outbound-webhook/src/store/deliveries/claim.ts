import { MAX_MESSAGE_BYTES } from "@toolgate/event-bus/batching-publisher";
import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { prepareClaim } from "@toolgate/postgres/fair-queue/claim";
import { lockDueGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import { expiredGroups, expireStatements } from "@toolgate/postgres/fair-queue/settle";
import { inUnlockedGroups } from "@toolgate/postgres/fair-queue/unlocked-groups";
import type { Pool } from "@toolgate/postgres/pool";

/** A delivery that is in flight from now until its lease ends, with everything that an attempt needs. */
export interface ClaimedDelivery {
  deliveryId: string;
  workspaceId: string;
  endpointId: number;
  /** Those of an endpoint with the same number are a series, in their order: they share the slot that the first one holds. */
  slot: number;
  number: number;
  eventType: string;
  hop: number;
  traceparent: string | null;
  tracestate: string | null;
  url: string;
  secret: Buffer;
  customHeaders: Buffer | null;
  /** Null when the series is too large for a message with it, or when it has expired. */
  body: Buffer | null;
  /** False when it must not be sent any more: the endpoint was deactivated or deleted since, or the body has expired. */
  wanted: boolean;
}

/** Bounds the memory of one claim: to this many times 5 messages. */
export const MAX_GROUPS_PER_CLAIM = 20;
export const ITEMS_PER_EXPIRY = 500;
/**
 * Extra time after the lease, so that after a pause of this service or the database, results that have arrived are
 * applied before deliveries are repeated.
 */
const RESULTS_FIRST_MS = 2_000;

/** Bodies that would be too many for a message are not read. */
const SELECT = `select claimed.item_id as "deliveryId", claimed.group_id as "workspaceId",
  claimed.member_id as "endpointId", claimed.slot::integer, claimed.attempt as number, d.event_type as "eventType",
  event.hop, event.traceparent, event.tracestate, e.url, e.secret, e.sealed_headers as "customHeaders",
  case when sum(octet_length(event.body)) over series <= ${MAX_MESSAGE_BYTES} then event.body end as body,
  coalesce(e.deleted_at is null and (e.active or d.kind = 'test') and event.body is not null
    and (e.cancel_until is null or claimed.created_at > e.cancel_until), false) as wanted
from claimed
left join outbound_webhook.delivery d on d.created_at = claimed.created_at and d.id = claimed.item_id
left join outbound_webhook.event event on event.created_at = d.event_created_at and event.id = d.event_id
left join outbound_webhook.endpoint e on e.id = claimed.member_id
window series as (partition by claimed.member_id, claimed.slot order by claimed.place)
order by claimed.place`;

/** Leases deliveries that are due. Also resolves with whether more may be due. */
export async function claimDeliveries(
  pool: Pool,
  queue: FairQueue,
  now: Date,
  leaseUntil: Date,
): Promise<{ deliveries: ClaimedDelivery[]; full: boolean }> {
  const claim = prepareClaim(queue, { name: "claim_deliveries", text: SELECT });
  const statements = [lockDueGroups(queue.tables, now, MAX_GROUPS_PER_CLAIM), claim({ now, leaseUntil })];
  const [locked, claimed] = await pipelined(pool, statements);
  const deliveries: ClaimedDelivery[] = claimed?.rows ?? [];
  const groups: number = locked?.rows[0].groups ?? 0;
  // A claim that finds nothing has still updated the due times of the groups that it locked; other groups may be
  // due.
  return { deliveries, full: groups === MAX_GROUPS_PER_CLAIM || (groups > 0 && deliveries.length === 0) };
}

/** Returns deliveries whose lease has expired to the queue, except those of locked workspaces. Resolves with how many. */
export async function expireLeases(pool: Pool, queue: FairQueue, now: Date): Promise<number> {
  const { rows } = await pool.query(expiredGroups(queue.tables, now, ITEMS_PER_EXPIRY));
  const again = new Date(now.getTime() + RESULTS_FIRST_MS);
  const groupOf = (row: { group_id: string }) => row.group_id;
  let items = 0;
  await inUnlockedGroups(rows, groupOf, async (some, lockTimeoutMs) => {
    const statements = expireStatements(queue, some.map(groupOf), now, ITEMS_PER_EXPIRY, again);
    const results = await pipelined(pool, statements, { lockTimeoutMs });
    items += results.at(-1)?.rows[0].items ?? 0;
  });
  return items;
}
