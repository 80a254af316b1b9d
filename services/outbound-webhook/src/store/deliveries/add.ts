import { addParts } from "@toolgate/postgres/fair-queue/add";
import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import type { Queryable } from "@toolgate/postgres/pool";
import type { DeliveryKindName } from "../../domain/delivery-filter.ts";
import { deliveriesOf } from "../undelivered.ts";

/**
 * How often an event can be sent to an endpoint again, by resends and replays together: whoever asks what became of an
 * event reads them all.
 */
export const MAX_SENT_AGAIN = 100;

/** A delivery of a stored event, due immediately. */
interface NewDelivery {
  id: string;
  eventId: string;
  eventType: string;
  eventAt: Date;
  /** The event's row with the bytes to send. */
  bodyAt: Date;
}

/** Writes deliveries to one endpoint and queues them. The transaction has locked the workspace. */
export async function addDeliveries(
  db: Queryable,
  queue: FairQueue,
  to: { workspaceId: string; endpointId: number; kind: DeliveryKindName },
  deliveries: readonly NewDelivery[],
  now: Date,
): Promise<void> {
  if (deliveries.length === 0) return;
  await db.query({
    name: "add_deliveries",
    text: addText(queue),
    values: [
      to.workspaceId,
      to.endpointId,
      to.kind,
      now,
      deliveries.map((delivery) => delivery.id),
      deliveries.map((delivery) => delivery.bodyAt),
      deliveries.map((delivery) => delivery.eventId),
      deliveries.map((delivery) => delivery.eventType),
      deliveries.map((delivery) => delivery.eventAt),
    ],
  });
}

/** What was sent before no longer decides whether its event is undelivered. */
const addText = (queue: FairQueue) => `with queued as materialized (
  select added.id as item_id, $1::text as group_id, $2::bigint as member_id, $4::timestamptz as due_at,
    $4::timestamptz as created_at, added.body_at, added.event_id, added.event_type, added.event_at, earlier.*
  from unnest($5::uuid[], $6::timestamptz[], $7::text[], $8::text[], $9::timestamptz[])
    as added (id, body_at, event_id, event_type, event_at)
  cross join lateral (
    select coalesce(bool_or(o.status = 'delivered'), false) as delivered,
      coalesce(bool_or(o.status in ('pending', 'retrying')), false) as under_way
    from ${deliveriesOf("added.event_id", "$2")}
  ) earlier
),
superseded as (
  update outbound_webhook.delivery d set decides = false
  where d.event_id = any($7) and d.endpoint_id + 0 = $2 and d.decides and $3 <> 'test'
),
skipped_sent as (
  update outbound_webhook.skipped_event s set sent = true
  where s.endpoint_id = $2 and s.event_id = any($7) and not s.sent and $3 <> 'test'
),
deliveries_added as (
  insert into outbound_webhook.delivery (created_at, id, workspace_id, endpoint_id, event_created_at, event_id,
    event_type, event_at, kind, next_attempt_at, decides, beside_others)
  select created_at, item_id, group_id, member_id, body_at, event_id,
    event_type, event_at, $3, created_at, $3 <> 'test' and not delivered, under_way
  from queued
),
${addParts(queue)}
select`;

const COPY = `insert into outbound_webhook.event
  (created_at, id, workspace_id, type, hop, body, request_id, traceparent, tracestate)
select $3, copied.id, copied.workspace_id, copied.type, copied.hop, copied.body, copied.request_id, copied.traceparent,
  copied.tracestate
from unnest($1::timestamptz[], $2::text[]) as wanted (created_at, id)
cross join lateral (
  select * from outbound_webhook.event e where e.created_at = wanted.created_at and e.id = wanted.id limit 1
) copied
on conflict do nothing`;

/** Copies the rows of events, with their bytes, so that they are kept as long as a delivery made now. */
export async function copyEvents(
  db: Queryable,
  events: readonly { eventId: string; bodyAt: Date }[],
  now: Date,
): Promise<void> {
  if (events.length === 0) return;
  const values = [events.map((event) => event.bodyAt), events.map((event) => event.eventId), now];
  await db.query({ name: "copy_events", text: COPY, values });
}
