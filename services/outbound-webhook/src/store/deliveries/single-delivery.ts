import { addParts } from "@toolgate/postgres/fair-queue/add";
import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { lockGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import type { Pool } from "@toolgate/postgres/pool";
import { createdAtOf, newDeliveryId } from "../../domain/delivery-id.ts";
import type { EndpointKey } from "../endpoint.ts";
import { SCHEMA } from "../queue.ts";

export interface SingleDeliveryStore {
  /** Queues a test event for one endpoint, active or not. Undefined: no such endpoint. */
  addTest(key: EndpointKey, event: { id: string; body: Buffer }, now: Date): Promise<string | undefined>;
  /** Queues the event of a delivery again, for the same endpoint. */
  addResend(workspaceId: string, deliveryId: string, now: Date): Promise<ResendResult>;
}

export type ResendResult = { deliveryId: string } | "no-such-delivery" | "endpoint-inactive";

/** Both are queued at once and count as the latest work of the endpoint. */
export function createSingleDeliveryStore(pool: Pool, queue: FairQueue): SingleDeliveryStore {
  const testText = addTestText(queue);
  const resendText = addResendText(queue);
  return {
    async addTest({ workspaceId, endpointId }, { id, body }, now) {
      const deliveryId = newDeliveryId(now);
      const [, added] = await pipelined(pool, [
        lockGroups(SCHEMA, [workspaceId]),
        { name: "add_test", text: testText, values: [workspaceId, endpointId, id, body, deliveryId, now] },
      ]);
      return added?.rows[0].deliveries === 1 ? deliveryId : undefined;
    },
    async addResend(workspaceId, deliveryId, now) {
      const createdAt = createdAtOf(deliveryId);
      if (!createdAt) return "no-such-delivery";
      const newId = newDeliveryId(now);
      const [, added] = await pipelined(pool, [
        lockGroups(SCHEMA, [workspaceId]),
        { name: "add_resend", text: resendText, values: [workspaceId, createdAt, deliveryId, newId, now] },
      ]);
      const { found, deliveries } = added?.rows[0] ?? {};
      if (!found) return "no-such-delivery";
      return deliveries === 1 ? { deliveryId: newId } : "endpoint-inactive";
    },
  };
}

function addTestText(queue: FairQueue): string {
  return `with target as materialized (
  select id from outbound_webhook.endpoint where workspace_id = $1 and id = $2 and deleted_at is null
),
new_event as (
  insert into outbound_webhook.event (created_at, id, workspace_id, type, hop, body)
  select $6, $3, $1, 'webhook.test', 1, $4 from target
),
queued as materialized (
  select $5::uuid as item_id, $1::text as group_id, id as member_id, $6::timestamptz as due_at,
    $6::timestamptz as created_at
  from target
),
new_delivery as (
  insert into outbound_webhook.delivery
    (created_at, id, workspace_id, endpoint_id, event_created_at, event_id, event_type, kind, next_attempt_at)
  select $6, item_id, $1, member_id, $6, $3, 'webhook.test', 'test', $6 from queued
),
${addParts(queue)}
select count(*)::integer as deliveries from queued`;
}

/** The event's bytes are copied, so that they last as long as the new delivery. A test stays a test. */
function addResendText(queue: FairQueue): string {
  return `with original as materialized (
  select d.endpoint_id, d.event_id, d.event_type, d.event_created_at,
    case when d.kind = 'test' then 'test' else 'resend' end as kind
  from outbound_webhook.delivery d
  where d.created_at = $2 and d.id = $3 and d.workspace_id = $1
),
target as materialized (
  select original.* from original
  join outbound_webhook.endpoint e on e.id = original.endpoint_id and e.deleted_at is null
  where e.active or original.kind = 'test'
),
copied as (
  insert into outbound_webhook.event (created_at, id, workspace_id, type, hop, body)
  select $5, event.id, event.workspace_id, event.type, event.hop, event.body
  from target join outbound_webhook.event
    on event.created_at = target.event_created_at and event.id = target.event_id
  on conflict do nothing
  returning id
),
queued as materialized (
  select $4::uuid as item_id, $1::text as group_id, endpoint_id as member_id, $5::timestamptz as due_at,
    $5::timestamptz as created_at
  from target
),
new_delivery as (
  insert into outbound_webhook.delivery
    (created_at, id, workspace_id, endpoint_id, event_created_at, event_id, event_type, kind, next_attempt_at)
  select $5, $4, $1, endpoint_id, $5, event_id, event_type, kind, $5 from target
),
${addParts(queue)}
select exists (select from original) as found, count(*)::integer as deliveries from queued`;
}
