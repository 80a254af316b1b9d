import { CUSTOM_PREFIX, CUSTOM_WILDCARD } from "@toolgate/event-schemas/catalogue";
import {
  type Bind,
  type FoundRows,
  type LogSearch,
  type Scan,
  scanOfIds,
  searchLog,
} from "@toolgate/postgres/log-search";
import type { Pool, Queryable } from "@toolgate/postgres/pool";
import type { DeliveryFilter, DeliveryStatusName } from "../../domain/delivery-filter.ts";

/** Statuses with an index, because few deliveries have them. */
const INDEXED_STATUSES: ReadonlySet<DeliveryStatusName> = new Set(["retrying", "failed", "cancelled"]);
/** At most this many queue items are read to find pending deliveries; if there are more, the log itself is searched. */
const MAX_ITEMS_READ = 1_000;
/** More than a call and its nested runs can emit. */
const MAX_EVENTS_OF_REQUEST = 1_000;
/** Must be the exact condition of the index. */
const IS_CUSTOM = `starts_with(d.event_type, '${CUSTOM_PREFIX}')`;
const ALL_ROWS = "outbound_webhook.delivery d";

/** The newest deliveries that match the filter; see `searchLog`. */
export function searchDeliveries(
  pool: Pool,
  filter: DeliveryFilter,
  search: Omit<LogSearch, "from" | "to">,
): Promise<FoundRows> {
  return searchLog(pool, (db) => scansFor(db, filter), { ...search, from: filter.from, to: filter.to });
}

/** Chooses the indexes that leave the fewest rows to read. Together, the scans find every matching row exactly once. */
async function scansFor(db: Queryable, filter: DeliveryFilter): Promise<Scan[]> {
  const { eventId, requestId, kind, statuses, eventType } = filter;
  if (requestId !== undefined) return scansOfRequest(db, filter, requestId);
  if (eventId !== undefined) return [indexScan(filter, (bind) => [ofEvent(eventId, bind)])];
  if (kind !== undefined && kind !== "event") {
    // A literal, so that the planner sees that the condition of the index is met.
    return [indexScan(filter, (bind) => [ofWorkspace(filter, bind), `d.kind = '${kind}'`])];
  }
  if (statuses && !statuses.includes("delivered")) return scansOfStatuses(db, filter, statuses);
  if (eventType === CUSTOM_WILDCARD) return [indexScan(filter, (bind) => [ofWorkspace(filter, bind), IS_CUSTOM])];
  if (eventType !== undefined) {
    return [indexScan(filter, (bind) => [ofWorkspace(filter, bind), `d.event_type collate "C" = ${bind(eventType)}`])];
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
  return [indexScan(filter, (bind) => [`d.event_id = any(${bind(rows.map((row) => row.id))}::text[])`])];
}

function scansOfOwner(filter: DeliveryFilter): Scan[] {
  if (filter.endpointId !== undefined) return [indexScan(filter, (bind) => [ofOwner(filter, bind)])];
  return [IS_CUSTOM, `not ${IS_CUSTOM}`].map((half) => indexScan(filter, (bind) => [ofWorkspace(filter, bind), half]));
}

async function scansOfStatuses(
  db: Queryable,
  filter: DeliveryFilter,
  statuses: readonly DeliveryStatusName[],
): Promise<Scan[]> {
  // The index has no column `status`.
  const { statuses: _, ...rest } = filter;
  const scans: Scan[] = [...new Set(statuses)]
    .filter((status) => INDEXED_STATUSES.has(status))
    .map((status) => indexScan(rest, (bind) => [ofOwner(filter, bind), `d.indexed_status = '${status}'`]));
  if (!statuses.includes("pending")) return scans;
  const pending: DeliveryFilter = { ...filter, statuses: ["pending"] };
  const ids = await pendingIds(db, filter);
  if (ids === "many") scans.push(...scansOfOwner(pending));
  else if (ids.length > 0) scans.push(scanOfIds(ALL_ROWS, ids, (bind) => allConditions(pending, bind)));
  return scans;
}

const indexScan =
  (filter: DeliveryFilter, where: (bind: Bind) => string[]): Scan =>
  ({ bind }) => ({ source: ALL_ROWS, where: where(bind), hit: allConditions(filter, bind) });

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

function ofOwner(filter: DeliveryFilter, bind: Bind): string {
  return filter.endpointId === undefined ? ofWorkspace(filter, bind) : `d.endpoint_id = ${bind(filter.endpointId)}`;
}

/** The deliveries of the endpoint or workspace that may be pending, from the queue, which contains all of them. */
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
