import type { Bind, Scan } from "@toolgate/postgres/log-search";
import { SCHEMA } from "../queue.ts";
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

/** Statuses with an index, because few deliveries have them. Waiting and running ones are among the newest. */
const INDEXED_STATUSES: ReadonlySet<DeliveryStatus> = new Set(["failed", "interrupted"]);

/** Chooses the indexes that leave the fewest rows to read. Together, the scans find every matching row exactly once. */
export function scansFor(filter: DeliveryFilter): Scan[] {
  const { requestId, externalId, statuses, ...rest } = filter;
  if (requestId !== undefined) {
    return [indexScan(filter, (bind) => [ofWorkspace(filter, bind), `d.request_id = ${bind(requestId)}`])];
  }
  if (externalId !== undefined) {
    return [indexScan(filter, (bind) => [ofWorkspace(filter, bind), `d.external_id = ${bind(externalId)}`])];
  }
  if (!statuses?.every((status) => INDEXED_STATUSES.has(status))) {
    return [indexScan(filter, (bind) => [ofOwner(filter, bind)])];
  }
  // A literal, so that the planner sees that the condition of the index is met. No index contains the status itself.
  return [...new Set(statuses)].map((status) =>
    indexScan(rest, (bind) => [ofOwner(filter, bind), `d.failure = '${status}'`]),
  );
}

const indexScan =
  (filter: DeliveryFilter, where: (bind: Bind) => string[]): Scan =>
  ({ bind }) => ({ source: `${SCHEMA}.delivery d`, where: where(bind), hit: allConditions(filter, bind) });

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
