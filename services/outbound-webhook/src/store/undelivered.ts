import type { Queryable } from "@toolgate/postgres/pool";

export interface UndeliveredRow {
  eventId: string;
  eventType: string;
  endpointId: number;
  reason: "failed" | "cancelled" | "skipped";
  eventAt: Date;
  undeliveredAt: Date;
  error: string;
  responseCode: number;
  deliveryIds: string[];
}

/** A row's position in the list: its time, event and endpoint. */
export interface UndeliveredPlace {
  at: Date;
  eventId: string;
  endpointId: number;
}

export interface UndeliveredFilter {
  workspaceId: string;
  /** Undefined: all endpoints of the workspace. */
  endpointId?: number | undefined;
  /** Exact names. */
  types?: readonly string[] | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  newestFirst: boolean;
  /** Only rows after this position. */
  after?: UndeliveredPlace | undefined;
  limit: number;
}

/**
 * The deliveries `o` of an event to an endpoint, without tests; takes expressions. The sum keeps the planner from reading
 * all deliveries of the endpoint.
 */
export const deliveriesOf = (eventId: string, endpointId: string) => `outbound_webhook.delivery o
    where o.event_id = ${eventId} and o.endpoint_id + 0 = ${endpointId} and o.kind <> 'test'`;

/**
 * Whether the delivery `d` leaves its event undelivered. Others are looked at only if they had not ended when it was made,
 * so that an index finds the undelivered ones of an endpoint without reading others.
 */
export const IS_UNDELIVERED = `d.undelivered and (not d.beside_others or not exists (
    select from ${deliveriesOf("d.event_id", "d.endpoint_id")} and o.status in ('pending', 'retrying', 'delivered')))`;

interface Selection {
  /** An expression, like `types` and `limit`. */
  endpointId: string;
  /** Undefined: all. */
  types?: string | undefined;
  /** Conditions on the columns endpoint_id, event_id and event_at. */
  where?: string;
  direction?: "asc" | "desc";
  limit: string;
}

/** A query of an endpoint's first undelivered events, in the order of their time. Reads only these from the indexes. */
export function undeliveredOf({ endpointId, types, where = "true", direction = "asc", limit }: Selection): string {
  const order = `order by event_at ${direction}, event_id ${direction} limit ${limit}`;
  const conditions = `endpoint_id = ${endpointId} and ${where}${types ? " and event_type = named.type" : ""}`;
  return `select found.* from ${types ? `unnest(${types}::text[]) as named (type) cross join lateral` : ""} (
    (select event_id, event_type, event_at, event_created_at as body_at, status as reason, finished_at as undelivered_at,
       error, response_code
     from outbound_webhook.delivery d where ${conditions} and ${IS_UNDELIVERED} ${order})
    union all
    (select event_id, event_type, event_at, body_at, 'skipped', body_at, '', 0
     from outbound_webhook.skipped_event where ${conditions} and not sent ${order})
  ) found ${order}`;
}

const DELIVERY_IDS = `array(
    select id from (
      select o.id from ${deliveriesOf("u.event_id", "u.endpoint_id")} order by o.id desc limit 10
    ) latest order by id
  )`;

/** Lists in the order of the event's time: the first rows of each endpoint and type. A workspace has few endpoints. */
export async function listUndelivered(db: Queryable, filter: UndeliveredFilter): Promise<UndeliveredRow[]> {
  const { workspaceId, endpointId, types, newestFirst, from, to, after, limit } = filter;
  const direction = newestFirst ? "desc" : "asc";
  const beyond = newestFirst ? "<" : ">";
  const page = undeliveredOf({
    endpointId: "e.id",
    types: types && "$9",
    where: `event_at >= $3 and event_at < $4 and (event_at, event_id) ${beyond}= ($5, $6)
      and (event_at, event_id, endpoint_id) ${beyond} ($5, $6, $7::bigint)`,
    direction,
    limit: "$8",
  });
  const order = `order by event_at ${direction}, event_id ${direction}, endpoint_id ${direction}`;
  const text = `select event_id as "eventId", event_type as "eventType", endpoint_id as "endpointId", reason,
    event_at as "eventAt", undelivered_at as "undeliveredAt", error, response_code as "responseCode",
    ${DELIVERY_IDS} as "deliveryIds"
  from (
    select e.id as endpoint_id, page.* from outbound_webhook.endpoint e cross join lateral (${page}) page
    where e.workspace_id = $1 and e.deleted_at is null and ($2::bigint is null or e.id = $2)
    ${order} limit $8
  ) u ${order}`;
  const { rows } = await db.query({
    name: `list_undelivered_${direction}${types ? "_of_types" : ""}`,
    text,
    values: [
      ...[workspaceId, endpointId ?? null, from ?? "-infinity", to ?? "infinity"],
      ...[after?.at ?? (newestFirst ? "infinity" : "-infinity"), after?.eventId ?? "", after?.endpointId ?? 0, limit],
      ...(types ? [types] : []),
    ],
  });
  return rows;
}

/** The number of undelivered events of each endpoint, counted up to `max`. */
export async function countUndelivered(
  db: Queryable,
  { workspaceId, endpointId }: { workspaceId: string; endpointId?: number },
  max: number,
): Promise<{ endpointId: number; events: number }[]> {
  const found = undeliveredOf({ endpointId: "e.id", limit: "$2" });
  const { rows } = await db.query(
    `select e.id as "endpointId", (select count(*)::integer from (${found}) found) as events
     from outbound_webhook.endpoint e
     where e.workspace_id = $1 and e.deleted_at is null and ($3::bigint is null or e.id = $3)
     order by e.created_at, e.id`,
    [workspaceId, max, endpointId ?? null],
  );
  return rows;
}
