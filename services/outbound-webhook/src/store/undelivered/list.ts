import type { Queryable } from "@toolgate/postgres/pool";

export type UndeliveredReason = "failed" | "cancelled" | "skipped";

export interface UndeliveredRow {
  eventId: string;
  eventType: string;
  endpointId: number;
  reason: UndeliveredReason;
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
  endpointId?: number;
  /** Exact names. */
  types?: readonly string[];
  from?: Date;
  to?: Date;
  newestFirst: boolean;
  /** Only rows after this position. */
  after?: UndeliveredPlace;
  limit: number;
}

const COLUMNS = `u.event_id as "eventId", u.event_type as "eventType", u.endpoint_id as "endpointId", u.reason,
  u.event_at as "eventAt", u.undelivered_at as "undeliveredAt", u.error, u.response_code as "responseCode",
  u.delivery_ids as "deliveryIds"`;

/**
 * Lists in the order of the event's time. Reads the first rows of each
 * endpoint and type from an index, and keeps the first of those: a workspace has few endpoints.
 */
export async function listUndelivered(db: Queryable, filter: UndeliveredFilter): Promise<UndeliveredRow[]> {
  const values: unknown[] = [filter.workspaceId, filter.limit];
  const place = (value: unknown) => `$${values.push(value)}`;
  const [beyond, direction] = filter.newestFirst ? ["<", "desc"] : [">", "asc"];
  const conditions = ["u.endpoint_id = e.id", "u.state = 'undelivered'"];
  if (filter.types) conditions.push("u.event_type = named.type");
  if (filter.from) conditions.push(`u.event_at >= ${place(filter.from)}`);
  if (filter.to) conditions.push(`u.event_at < ${place(filter.to)}`);
  if (filter.after) {
    const { after } = filter;
    const [afterAt, eventId] = [place(after.at), place(after.eventId)];
    conditions.push(`(u.event_at, u.event_id) ${beyond}= (${afterAt}, ${eventId})`);
    conditions.push(
      `(u.event_at, u.event_id, u.endpoint_id) ${beyond} (${afterAt}, ${eventId}, ${place(after.endpointId)})`,
    );
  }
  const ofEndpoint = filter.endpointId === undefined ? "" : `and e.id = ${place(filter.endpointId)}`;
  const types = filter.types ? `cross join unnest(${place(filter.types)}::text[]) as named (type)` : "";
  const { rows } = await db.query(
    `select ${COLUMNS}
     from outbound_webhook.endpoint e ${types}
     cross join lateral (
       select * from outbound_webhook.undelivered u where ${conditions.join(" and ")}
       order by u.event_at ${direction}, u.event_id ${direction} limit $2
     ) u
     where e.workspace_id = $1 and e.deleted_at is null ${ofEndpoint}
     order by u.event_at ${direction}, u.event_id ${direction}, u.endpoint_id ${direction} limit $2`,
    values,
  );
  return rows;
}

/** The number of undelivered events of each endpoint, counted up to `max`. */
export async function countUndelivered(
  db: Queryable,
  { workspaceId, endpointId }: { workspaceId: string; endpointId?: number },
  max: number,
): Promise<{ endpointId: number; events: number }[]> {
  const { rows } = await db.query(
    `select e.id as "endpointId", counted.events
     from outbound_webhook.endpoint e
     cross join lateral (
       select count(*)::integer as events from (
         select from outbound_webhook.undelivered u where u.endpoint_id = e.id and u.state = 'undelivered' limit $2
       ) found
     ) counted
     where e.workspace_id = $1 and e.deleted_at is null and ($3::bigint is null or e.id = $3)
     order by e.created_at, e.id`,
    [workspaceId, max, endpointId ?? null],
  );
  return rows;
}
