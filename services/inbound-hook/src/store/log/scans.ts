import { type Bind, type Scan, scanOfIds } from "@toolgate/postgres/log-search";
import type { Queryable } from "@toolgate/postgres/pool";
import { LANES, SCHEMA } from "../queue.ts";
import type { DeliveryStatus } from "./read.ts";

/** A search of the hook log; absent members match everything. */
export interface DeliveryFilter {
  workspaceId: string;
  hookId?: number;
  statuses?: readonly DeliveryStatus[];
  /** The sender's own id of the call. */
  externalId?: string;
  /** Id of the HTTP request. */
  requestId?: string;
}

/** Statuses with an index, because few deliveries have them. */
const INDEXED_STATUSES: ReadonlySet<DeliveryStatus> = new Set(["failed", "interrupted"]);
/**
 * At most this many queue items are read to find waiting and running deliveries; if there are more, the log is
 * searched.
 */
const MAX_ITEMS_READ = 1_000;
const ALL_ROWS = `${SCHEMA}.delivery d`;

/** Chooses the indexes that leave the fewest rows to read. Together, the scans find every matching row exactly once. */
export async function scansFor(db: Queryable, filter: DeliveryFilter): Promise<Scan[]> {
  const { requestId, externalId, statuses } = filter;
  if (requestId !== undefined) {
    return [indexScan(filter, (bind) => [ofWorkspace(filter, bind), `d.request_id = ${bind(requestId)}`])];
  }
  if (externalId !== undefined) {
    return [indexScan(filter, (bind) => [ofWorkspace(filter, bind), `d.external_id = ${bind(externalId)}`])];
  }
  if (!statuses || statuses.includes("succeeded")) return [ownerScan(filter)];
  return scansOfStatuses(db, filter, statuses);
}

async function scansOfStatuses(
  db: Queryable,
  filter: DeliveryFilter,
  statuses: readonly DeliveryStatus[],
): Promise<Scan[]> {
  const { statuses: _, ...withAnyStatus } = filter;
  const scans = [...new Set(statuses)]
    .filter((status) => INDEXED_STATUSES.has(status))
    // A literal, so that the planner sees that the condition of the index is met. No index contains the status itself.
    .map((status) => indexScan(withAnyStatus, (bind) => [ofOwner(filter, bind), `d.failure = '${status}'`]));
  const queued = statuses.filter((status) => !INDEXED_STATUSES.has(status));
  if (queued.length === 0) return scans;
  const rest: DeliveryFilter = { ...filter, statuses: queued };
  const ids = await queuedIds(db, filter);
  if (ids === "many") scans.push(ownerScan(rest));
  else if (ids.length > 0) scans.push(scanOfIds(ALL_ROWS, ids, (bind) => allConditions(rest, bind)));
  return scans;
}

const indexScan =
  (filter: DeliveryFilter, where: (bind: Bind) => string[]): Scan =>
  ({ bind }) => ({ source: ALL_ROWS, where: where(bind), hit: allConditions(filter, bind) });

const ownerScan = (filter: DeliveryFilter) => indexScan(filter, (bind) => [ofOwner(filter, bind)]);

function allConditions(filter: DeliveryFilter, bind: Bind): string[] {
  const { hookId, statuses, externalId, requestId } = filter;
  const conditions = [ofWorkspace(filter, bind)];
  if (hookId !== undefined) conditions.push(`d.hook_id = ${bind(hookId)}`);
  if (statuses) conditions.push(`d.status = any(${bind(statuses)}::text[])`);
  if (externalId !== undefined) conditions.push(`d.external_id = ${bind(externalId)}`);
  if (requestId !== undefined) conditions.push(`d.request_id = ${bind(requestId)}`);
  return conditions;
}

const ofWorkspace = ({ workspaceId }: DeliveryFilter, bind: Bind) => `d.workspace_id = ${bind(workspaceId)}`;

function ofOwner(filter: DeliveryFilter, bind: Bind): string {
  return filter.hookId === undefined ? ofWorkspace(filter, bind) : `d.hook_id = ${bind(filter.hookId)}`;
}

/** The deliveries of the hook or workspace that wait or run, from the queues, which contain all of them. */
async function queuedIds(db: Queryable, { workspaceId, hookId }: DeliveryFilter): Promise<string[] | "many"> {
  const ofHook = hookId === undefined ? "" : "and member_id = $3";
  const parts = LANES.flatMap((lane) =>
    ["is null", "is not null"].map(
      (leased) => `(select item_id as id from ${SCHEMA}.${lane}_queue_item
        where group_id = $1 and lease_until ${leased} ${ofHook} limit $2)`,
    ),
  );
  const values = [workspaceId, MAX_ITEMS_READ, ...(hookId === undefined ? [] : [hookId])];
  const { rows } = await db.query(parts.join(" union all "), values);
  return rows.length >= MAX_ITEMS_READ ? "many" : [...new Set(rows.map(({ id }) => id as string))];
}
