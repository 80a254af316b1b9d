import type { Queryable } from "@toolgate/postgres/pool";
import { createdAtOf } from "@toolgate/postgres/timed-id";
import type { DeliveryKindName, DeliveryStatusName } from "../../domain/delivery-filter.ts";
import type { Slots } from "../../domain/full-cap.ts";
import type { LoggedResult } from "../deliveries/apply-results.ts";
import { SCHEMA } from "../queue.ts";

export interface DeliveryRow {
  id: string;
  eventId: string;
  /** Id of the HTTP request that caused the event; empty when there was none. */
  requestId: string;
  eventType: string;
  endpointId: number;
  kind: DeliveryKindName;
  status: DeliveryStatusName;
  attempts: number;
  responseCode: number;
  durationMs: number;
  response: string;
  error: string;
  createdAt: Date;
  finishedAt: Date | null;
  /** When the last attempt ended; null when there was none. */
  attemptedAt: Date | null;
  /** When it is due; null when it is not in the queue. */
  dueAt: Date | null;
  leased: boolean;
  slots: Slots;
}

export interface AttemptRow extends LoggedResult {
  startedAt: Date;
  signedAt: Date;
  error: string;
}

/** A delivery with what was sent, and the endpoint as it is now. */
export interface FoundDelivery {
  delivery: DeliveryRow;
  /** Empty when it has expired. */
  body: Buffer;
  hop: number;
  endpoint: { url: string; secret: Buffer; secretReplacedAt: Date | null } | undefined;
}

/** An SQL expression for the `Slots` of an endpoint as JSON, all 0 when the queue does not know it. Takes expressions. */
export function slotsOf(workspace: string, endpoint: string): string {
  return `(select json_build_object(
    'endpoint', coalesce(sum(in_flight) filter (where member_id = ${endpoint}), 0),
    'failing', coalesce(bool_or(failing) filter (where member_id = ${endpoint}), false),
    'failingEndpoints', coalesce(sum(in_flight) filter (where failing), 0),
    'workspace', coalesce((select g.in_flight from ${SCHEMA}.queue_group g where g.group_id = ${workspace}), 0))
  from ${SCHEMA}.queue_member where group_id = ${workspace} and (in_flight > 0 or member_id = ${endpoint}))`;
}

const COLUMNS = `d.id, d.event_id as "eventId", d.event_type as "eventType", d.endpoint_id as "endpointId", d.kind, d.status,
  d.attempts, d.response_code as "responseCode", d.duration_ms as "durationMs", d.error, d.created_at as "createdAt",
  d.finished_at as "finishedAt", coalesce(a.response, '') as response,
  a.started_at + a.duration_ms * interval '1 millisecond' as "attemptedAt",
  q.due_at as "dueAt", q.lease_until is not null and q.holds_slot as leased,
  ${slotsOf("q.group_id", "q.member_id")} as slots`;

/** `ofAttempt` restricts the partitions of attempts that the planner considers. */
const joins = (ofAttempt: string) => `left join outbound_webhook.attempt a
  on a.created_at = d.created_at and a.delivery_id = d.id and a.number = d.attempts ${ofAttempt}
left join outbound_webhook.queue_item q on q.item_id = d.id`;

/** The rows of these deliveries, newest first. */
export async function readDeliveries(db: Queryable, ids: readonly string[]): Promise<DeliveryRow[]> {
  const times = ids.map(createdAtOf);
  const [newest, oldest] = [times[0], times.at(-1)];
  if (newest === undefined) return [];
  const { rows } = await db.query(
    `select ${COLUMNS}, d.event_created_at as "eventCreatedAt"
     from unnest($1::timestamptz[], $2::uuid[]) as wanted (created_at, id)
     join outbound_webhook.delivery d on d.created_at = wanted.created_at and d.id = wanted.id
       and d.created_at between $3 and $4
     ${joins("and a.created_at between $3 and $4")}
     order by d.id desc`,
    [times, ids, oldest, newest],
  );
  const requestIds = await requestIdsOf(db, rows);
  return rows.map(({ eventCreatedAt: _, ...row }) => ({ ...row, requestId: requestIds.get(row.eventId) ?? "" }));
}

/** The request ids by event. The time bounds let the planner skip partitions. */
async function requestIdsOf(
  db: Queryable,
  deliveries: { eventId: string; eventCreatedAt: Date }[],
): Promise<Map<string, string>> {
  const times = deliveries.map(({ eventCreatedAt }) => eventCreatedAt);
  const { rows } = await db.query(
    `select event.id, event.request_id
     from unnest($1::timestamptz[], $2::text[]) as wanted (created_at, id)
     join outbound_webhook.event event on event.created_at = wanted.created_at and event.id = wanted.id
       and event.created_at between $3 and $4`,
    [
      times,
      deliveries.map(({ eventId }) => eventId),
      new Date(Math.min(...times.map(Number))),
      new Date(Math.max(...times.map(Number))),
    ],
  );
  return new Map(rows.map((row) => [row.id, row.request_id]));
}

/** One delivery with the exact bytes of its body; undefined when the workspace has no such delivery. */
export async function findDelivery(
  db: Queryable,
  workspaceId: string,
  deliveryId: string,
): Promise<FoundDelivery | undefined> {
  const createdAt = createdAtOf(deliveryId);
  if (!createdAt) return undefined;
  const { rows } = await db.query(
    `select ${COLUMNS}, event.body, event.hop,
       coalesce(event.request_id, '') as "requestId", e.url, e.secret, e.secret_replaced_at as "secretReplacedAt"
     from outbound_webhook.delivery d ${joins("and a.created_at = $2")}
     left join outbound_webhook.event event on event.created_at = d.event_created_at and event.id = d.event_id
     left join outbound_webhook.endpoint e on e.id = d.endpoint_id and e.deleted_at is null
     where d.created_at = $2 and d.id = $3 and d.workspace_id = $1`,
    [workspaceId, createdAt, deliveryId],
  );
  const [row] = rows;
  if (!row) return undefined;
  const { body, hop, url, secret, secretReplacedAt, ...delivery } = row;
  return {
    delivery,
    body: body ?? Buffer.alloc(0),
    hop: hop ?? 1,
    endpoint: url === null ? undefined : { url, secret, secretReplacedAt },
  };
}

/** The attempts of a delivery that `findDelivery` has found, in order. */
export async function listAttempts(db: Queryable, deliveryId: string): Promise<AttemptRow[]> {
  const { rows } = await db.query(
    `select number, started_at as "startedAt", response_code as "responseCode", duration_ms as "durationMs", error,
       response, address, dns_ms as "dnsMs", connect_ms as "connectMs", tls_ms as "tlsMs", first_byte_ms as "firstByteMs",
       signed_at as "signedAt"
     from outbound_webhook.attempt where created_at = $1 and delivery_id = $2 order by number`,
    [createdAtOf(deliveryId), deliveryId],
  );
  return rows;
}
