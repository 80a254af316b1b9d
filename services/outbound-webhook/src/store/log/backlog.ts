import type { Queryable } from "@toolgate/postgres/pool";
import type { Slots } from "../../domain/waiting.ts";
import type { EndpointKey } from "../endpoint.ts";
import { SCHEMA } from "../queue.ts";

/** Waiting deliveries are counted up to this number. */
export const MAX_COUNTED = 10_000;

interface EndpointBacklog {
  /** At most `MAX_COUNTED + 1`. */
  waiting: number;
  /** When the first of them is due; null when none is waiting. */
  firstDueAt: Date | null;
  slots: Slots;
}

/** The deliveries that wait for an endpoint; undefined when the workspace has no such endpoint. */
export async function readEndpointBacklog(db: Queryable, key: EndpointKey): Promise<EndpointBacklog | undefined> {
  const { rows } = await db.query(
    `select waiting.items as waiting, waiting.first_due_at as "firstDueAt",
       ${slotsOf("e.workspace_id", "e.id")} as slots
     from outbound_webhook.endpoint e
     cross join lateral ${waitingFor("$1", "$2", "$3")} waiting
     where e.workspace_id = $1 and e.id = $2 and e.deleted_at is null`,
    [key.workspaceId, key.endpointId, MAX_COUNTED + 1],
  );
  return rows[0];
}

/**
 * An SQL subquery of one row: how many deliveries wait for an endpoint (`items`, at least `limit` when there are more), and
 * when the first of them is due. Those that are to follow another one in its slot wait as well. Takes expressions.
 */
export function waitingFor(workspace: string, endpoint: string, limit: string): string {
  const ofEndpoint = `from ${SCHEMA}.queue_item where group_id = ${workspace} and member_id = ${endpoint}`;
  return `(
    select count(*)::integer as items, min(due_at) as first_due_at from (
      (select due_at ${ofEndpoint} and lease_until is null order by due_at, item_id limit ${limit})
      union all
      (select due_at ${ofEndpoint} and lease_until is not null and not holds_slot)
    ) first
  )`;
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
