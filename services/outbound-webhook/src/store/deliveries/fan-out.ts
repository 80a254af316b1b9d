import { addParts } from "@toolgate/postgres/fair-queue/add";
import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { lockGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import type { Pool } from "@toolgate/postgres/pool";
import { currentRequestId } from "@toolgate/telemetry/request";
import { currentTrace } from "@toolgate/telemetry/trace";
import type { StoredEvent } from "../../domain/incoming-event.ts";
import { QUEUE_TABLES } from "../queue.ts";

/**
 * Stores events and makes their deliveries, in one transaction. It waits for another one's locks for at most `lockTimeoutMs`
 * (default: as long as a statement may take). Resolves with the number of new deliveries.
 *
 * The lock comes first, so that the next statement sees the endpoints' current state: an endpoint that is being
 * deactivated at the same time gets the event only if it is still active after the lock. An event that is too late
 * for its own partition is stored under the time of its arrival; a repeated report finds it in `moved_event` or in
 * the partition of its own time.
 */
export async function fanOut(
  pool: Pool,
  queue: FairQueue,
  events: readonly StoredEvent[],
  now: Date,
  lockTimeoutMs?: number,
): Promise<number> {
  const current = currentTrace();
  const statements = [
    lockGroups(QUEUE_TABLES, [...new Set(events.map((event) => event.workspaceId))]),
    {
      name: "fan_out",
      text: fanOutText(queue),
      values: [
        events.map((event) => event.id),
        events.map((event) => event.createdAt),
        events.map((event) => event.workspaceId),
        events.map((event) => event.type),
        events.map((event) => event.hop),
        events.map((event) => event.body),
        now,
        events.map((event) => event.movedFrom),
        events.map((event) => event.requestId ?? currentRequestId()),
        events.map((event) => (event.trace ?? current).traceparent),
        events.map((event) => (event.trace ?? current).tracestate),
        events.map((event) => event.tool ?? ""),
      ],
    },
  ];
  const options = { unlockEarly: true, ...(lockTimeoutMs !== undefined && { lockTimeoutMs }) };
  const [, result] = await pipelined(pool, statements, options);
  return result?.rows[0].deliveries ?? 0;
}

function fanOutText(queue: FairQueue): string {
  return `with incoming as materialized (
  select distinct on (id, created_at) *
  from unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::smallint[], $6::bytea[], $8::timestamptz[], $9::text[], $10::text[], $11::text[],
    $12::text[])
    as given (id, created_at, workspace_id, type, hop, body, moved_from, request_id, traceparent, tracestate, tool)
  where not exists (select from outbound_webhook.moved_event moved where moved.id = given.id)
    and (moved_from is null or not exists (
      select from outbound_webhook.event e where e.created_at = given.moved_from and e.id = given.id
    ))
),
moved as (
  insert into outbound_webhook.moved_event (id, stored_at)
  select id, created_at from incoming where moved_from is not null
  on conflict do nothing
  returning id
),
subscribers as materialized (
  select incoming.id, incoming.created_at, incoming.workspace_id, e.id as endpoint_id, e.active,
    least(incoming.moved_from, incoming.created_at) as event_at
  from incoming
  cross join lateral (
    select id, active, events, tools from outbound_webhook.endpoint
    where workspace_id = incoming.workspace_id and deleted_at is null
    -- Without this, a plan made while there were few endpoints would read all of them for each event.
    offset 0
  ) e
  where (incoming.type = any(e.events) or (incoming.type like 'custom.%' and 'custom.*' = any(e.events)))
    and (incoming.type <> 'tool.completed' or e.tools = '{}' or incoming.tool = any(e.tools))
),
new_events as (
  insert into outbound_webhook.event
    (created_at, id, workspace_id, type, hop, body, request_id, traceparent, tracestate)
  select created_at, id, workspace_id, type, hop, body, request_id, traceparent, tracestate
  from incoming
  where moved_from is null or id in (select id from moved)
  on conflict do nothing
  returning created_at, id, workspace_id, type
),
new_deliveries as (
  insert into outbound_webhook.delivery
    (created_at, id, workspace_id, endpoint_id, event_created_at, event_id, event_type, event_at, kind, next_attempt_at)
  select $7, outbound_webhook.delivery_id($7), e.workspace_id, s.endpoint_id, e.created_at, e.id, e.type, s.event_at,
    'event', $7
  from new_events e
  join subscribers s on s.id = e.id and s.created_at = e.created_at and s.active
  returning id, workspace_id, endpoint_id, created_at
),
skipped as (
  insert into outbound_webhook.skipped_event (endpoint_id, event_id, event_type, event_at, body_at)
  select s.endpoint_id, e.id, e.type, s.event_at, e.created_at
  from new_events e
  join subscribers s on s.id = e.id and s.created_at = e.created_at and not s.active
  on conflict do nothing
),
queued as materialized (
  select id as item_id, workspace_id as group_id, endpoint_id as member_id, created_at as due_at, created_at
  from new_deliveries
),
${addParts(queue)}
select count(*)::integer as deliveries from queued`;
}
