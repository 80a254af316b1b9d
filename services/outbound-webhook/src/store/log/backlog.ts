import { isHanging } from "@toolgate/postgres/fair-queue/borrowing";
import { isSuspect } from "@toolgate/postgres/fair-queue/caps";
import type { Queryable } from "@toolgate/postgres/pool";
import type { Slots } from "../../domain/waiting.ts";
import type { EndpointKey } from "../endpoint.ts";
import { HANGS_AFTER_MS, SCHEMA, SUSPECT_AFTER_MS } from "../queue.ts";

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
export async function readEndpointBacklog(
  db: Queryable,
  key: EndpointKey,
  now: Date,
): Promise<EndpointBacklog | undefined> {
  const { rows } = await db.query(
    `select waiting.items as waiting, waiting.first_due_at as "firstDueAt",
       ${slotsOf("e.workspace_id", "e.id", "$4::timestamptz")} as slots
     from outbound_webhook.endpoint e
     cross join lateral (
       select count(*)::integer as items, min(due_at) as first_due_at from (
         select due_at from outbound_webhook.queue_item q
         where q.group_id = $1 and q.member_id = $2 and q.lease_until is null
         order by due_at, item_id limit $3
       ) first
     ) waiting
     where e.workspace_id = $1 and e.id = $2 and e.deleted_at is null`,
    [key.workspaceId, key.endpointId, MAX_COUNTED + 1, now],
  );
  return rows[0];
}

/** An SQL expression for the `Slots` of an endpoint as JSON, all 0 when the queue does not know it. Takes expressions. */
export function slotsOf(workspace: string, endpoint: string, now: string): string {
  return `(select json_build_object(
    'endpoint', coalesce(sum(in_flight) filter (where member_id = ${endpoint}), 0),
    'failing', coalesce(bool_or(failing) filter (where member_id = ${endpoint}), false),
    'suspect', coalesce(bool_or(suspect) filter (where member_id = ${endpoint}), false),
    'suspectEndpoints', coalesce(sum(in_flight) filter (where suspect), 0),
    'hangingEndpoints', coalesce(sum(in_flight) filter (where hanging), 0),
    'succeeded', coalesce(bool_or(usual_ms > 0) filter (where member_id = ${endpoint}), false),
    'chosen', (select g.per_member from ${SCHEMA}.queue_group g where g.group_id = ${workspace}),
    'workspace', coalesce((select g.in_flight from ${SCHEMA}.queue_group g where g.group_id = ${workspace}), 0))
  from (
    select member_id, in_flight, failing, usual_ms, ${isSuspect({ suspectAfterMs: SUSPECT_AFTER_MS }, now)} as suspect,
      ${isHanging({ hangsAfterMs: HANGS_AFTER_MS }, now)} as hanging
    from ${SCHEMA}.queue_member where group_id = ${workspace} and (in_flight > 0 or member_id = ${endpoint})
  ) of_workspace)`;
}
