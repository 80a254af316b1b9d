import { addParts } from "@toolgate/postgres/fair-queue/add";
import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import type { Queryable } from "@toolgate/postgres/pool";
import type { DeliveryKindName } from "../../domain/delivery-filter.ts";

/** A delivery of a stored event, due immediately. */
interface NewDelivery {
  id: string;
  eventId: string;
  eventType: string;
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
    ],
  });
}

const addText = (queue: FairQueue) => `with queued as materialized (
  select id as item_id, $1::text as group_id, $2::bigint as member_id, $4::timestamptz as due_at,
    $4::timestamptz as created_at, event_created_at, event_id, event_type
  from unnest($5::uuid[], $6::timestamptz[], $7::text[], $8::text[]) as added (id, event_created_at, event_id, event_type)
),
deliveries_added as (
  insert into outbound_webhook.delivery
    (created_at, id, workspace_id, endpoint_id, event_created_at, event_id, event_type, kind, next_attempt_at)
  select created_at, item_id, group_id, member_id, event_created_at, event_id, event_type, $3, created_at from queued
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
