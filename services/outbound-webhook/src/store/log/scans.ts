import { CUSTOM_PREFIX, CUSTOM_WILDCARD } from "@toolgate/event-schemas/catalogue";
import type { Queryable } from "@toolgate/postgres/pool";
import type { DeliveryFilter, DeliveryKindName, DeliveryStatusName } from "../../domain/delivery-filter.ts";
import { createdAtOf } from "../../domain/delivery-id.ts";

/** Statuses that have an index, because few deliveries end or stay in them. */
const INDEXED_STATUSES: ReadonlySet<DeliveryStatusName> = new Set(["retrying", "failed", "cancelled"]);
/** Items of a queue that are read to find the pending ones; with more of them pending is taken for frequent. */
const MAX_ITEMS_READ = 1_000;
/** A call and what it calls emit fewer. */
const MAX_EVENTS_OF_REQUEST = 1_000;
/** In these words, as the index has them: the planner compares conditions, not meanings. */
const IS_CUSTOM = `starts_with(d.event_type, '${CUSTOM_PREFIX}')`;
const ALL_ROWS = "outbound_webhook.delivery d";

/** Binds a value and answers its place in the statement. */
export type Bind = (value: unknown) => string;

/** The part of a scan that a step reads: the ids from `first` up to, without, `cursor`. */
export interface Stretch {
  bind: Bind;
  first: string;
  cursor: string;
}

/** Names the rows of `source`, as `d`, that meet `where`; those that meet `hit` too are wanted. */
export interface Rows {
  source: string;
  where: string[];
  hit: string[];
}

/** A way through the log, newest first, for which there is an index. */
export type Scan = (stretch: Stretch) => Rows;

/** The rows to be walked over, as few as an index can tell apart. Together the scans meet every wanted row, once each. */
export async function scansFor(db: Queryable, filter: DeliveryFilter): Promise<Scan[]> {
  const { eventId, requestId, kind, statuses, eventType } = filter;
  if (requestId !== undefined) return scansOfRequest(db, filter, requestId);
  if (eventId !== undefined) return [through(filter, (bind) => [ofEvent(eventId, bind)])];
  if (kind !== undefined && kind !== "event") {
    return [through(filter, (bind) => [ofWorkspace(filter, bind), ofKind(kind)])];
  }
  if (statuses && !statuses.includes("delivered")) return scansOfStatuses(db, filter, statuses);
  if (eventType === CUSTOM_WILDCARD) return [through(filter, (bind) => [ofWorkspace(filter, bind), IS_CUSTOM])];
  if (eventType !== undefined) {
    return [through(filter, (bind) => [ofWorkspace(filter, bind), `d.event_type collate "C" = ${bind(eventType)}`])];
  }
  return scansOfOwner(filter);
}

/** The deliveries of a request's events. */
async function scansOfRequest(db: Queryable, filter: DeliveryFilter, requestId: string): Promise<Scan[]> {
  const { rows } = await db.query(
    `select id from outbound_webhook.event
     where workspace_id = $1 and request_id = $2 and request_id <> '' limit ${MAX_EVENTS_OF_REQUEST}`,
    [filter.workspaceId, requestId],
  );
  if (rows.length === 0) return [];
  return [through(filter, (bind) => [`d.event_id = any(${bind(rows.map((row) => row.id))}::text[])`])];
}

function scansOfOwner(filter: DeliveryFilter): Scan[] {
  if (filter.endpointId !== undefined) return [through(filter, (bind) => [ofOwner(filter, bind)])];
  return [IS_CUSTOM, `not ${IS_CUSTOM}`].map((half) => through(filter, (bind) => [ofWorkspace(filter, bind), half]));
}

async function scansOfStatuses(
  db: Queryable,
  filter: DeliveryFilter,
  statuses: readonly DeliveryStatusName[],
): Promise<Scan[]> {
  const scans: Scan[] = [...new Set(statuses)]
    .filter((status) => INDEXED_STATUSES.has(status))
    .map((status) => through(filter, (bind) => [ofOwner(filter, bind), `d.status = '${status}'`]));
  if (!statuses.includes("pending")) return scans;
  const pending: DeliveryFilter = { ...filter, statuses: ["pending"] };
  const ids = await pendingIds(db, filter);
  if (ids === "many") scans.push(...scansOfOwner(pending));
  else if (ids.length > 0) scans.push(throughIds(pending, ids));
  return scans;
}

const through =
  (filter: DeliveryFilter, where: (bind: Bind) => string[]): Scan =>
  ({ bind }) => ({ source: ALL_ROWS, where: where(bind), hit: allConditions(filter, bind) });

/** The rows of these ids, each looked up by itself. */
function throughIds(filter: DeliveryFilter, ids: readonly string[]): Scan {
  return ({ bind, first, cursor }) => {
    const listed = ids.filter((id) => id >= first && id < cursor);
    const columns = `${bind(listed.map(createdAtOf))}::timestamptz[], ${bind(listed)}::uuid[]`;
    return {
      source: `unnest(${columns}) as listed (created_at, id) cross join lateral (
        select * from ${ALL_ROWS} where d.created_at = listed.created_at and d.id = listed.id
          and d.created_at >= $1 and d.created_at < $2 limit 1
      ) d`,
      where: [],
      hit: allConditions(filter, bind),
    };
  };
}

function allConditions(filter: DeliveryFilter, bind: Bind): string[] {
  const conditions = [ofWorkspace(filter, bind)];
  const { endpointId, eventId, eventType, statuses, kind } = filter;
  if (endpointId !== undefined) conditions.push(`d.endpoint_id = ${bind(endpointId)}`);
  if (eventId !== undefined) conditions.push(ofEvent(eventId, bind));
  if (eventType === CUSTOM_WILDCARD) conditions.push(IS_CUSTOM);
  else if (eventType !== undefined) conditions.push(`d.event_type = ${bind(eventType)}`);
  if (statuses) conditions.push(`d.status = any(${bind(statuses)}::text[])`);
  if (kind !== undefined) conditions.push(`d.kind = ${bind(kind)}`);
  return conditions;
}

const ofWorkspace = ({ workspaceId }: DeliveryFilter, bind: Bind) => `d.workspace_id = ${bind(workspaceId)}`;
const ofEvent = (eventId: string, bind: Bind) => `d.event_id = ${bind(eventId)}`;
/** Not bound, so that it is known to imply the condition of the index. */
const ofKind = (kind: DeliveryKindName) => `d.kind = '${kind}'`;

function ofOwner(filter: DeliveryFilter, bind: Bind): string {
  return filter.endpointId === undefined ? ofWorkspace(filter, bind) : `d.endpoint_id = ${bind(filter.endpointId)}`;
}

/**
 * The deliveries of the endpoint, or of the workspace, that may be pending. All of them are in the queue, which holds
 * only what is not done.
 */
async function pendingIds(db: Queryable, { workspaceId, endpointId }: DeliveryFilter): Promise<string[] | "many"> {
  const ofEndpoint = endpointId === undefined ? "" : "and member_id = $3";
  const { rows } = await db.query(
    `(select item_id, attempt from outbound_webhook.queue_item
      where group_id = $1 and lease_until is null ${ofEndpoint} limit $2)
     union all
     (select item_id, attempt from outbound_webhook.queue_item
      where group_id = $1 and lease_until is not null ${ofEndpoint} limit $2)`,
    [workspaceId, MAX_ITEMS_READ, ...(endpointId === undefined ? [] : [endpointId])],
  );
  if (rows.length >= MAX_ITEMS_READ) return "many";
  return rows.filter((row) => row.attempt === 1).map((row) => row.item_id);
}
