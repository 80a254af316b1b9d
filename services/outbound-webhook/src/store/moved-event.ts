import type { Queryable } from "@toolgate/postgres/pool";
import { deleteInBatches } from "./delete-in-batches.ts";

/** Forgets the events that were stored under another time than their own before this one. */
export async function dropMovedEvents(db: Queryable, before: Date): Promise<void> {
  await deleteInBatches(
    db,
    `delete from outbound_webhook.moved_event where id in (
       select id from outbound_webhook.moved_event where stored_at < $1
       order by stored_at limit $2 for update skip locked)`,
    before,
  );
}
