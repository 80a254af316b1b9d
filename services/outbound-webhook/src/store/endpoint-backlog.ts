import type { Queryable } from "@toolgate/postgres/pool";
import type { Slots } from "../domain/waiting.ts";
import type { EndpointKey } from "./endpoint.ts";
import { slotsOf } from "./slots.ts";

/** Waiting deliveries are counted up to this. */
export const MAX_COUNTED = 10_000;

export interface EndpointBacklog {
  /** At most `MAX_COUNTED` and one more. */
  waiting: number;
  /** Due time of the one that is due first; null when none waits. */
  firstDueAt: Date | null;
  slots: Slots;
}

/** What waits for an endpoint; undefined when the workspace has no such endpoint. Reads a bounded number of rows. */
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
