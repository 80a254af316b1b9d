import { countByHour } from "@toolgate/postgres/hourly-counts";
import type { Queryable } from "@toolgate/postgres/pool";

/** The hour is that of the id: with one of created_at, the planner would read other workspaces. */
const ofHour = (custom: string) => `(select from outbound_webhook.delivery d
       where d.workspace_id = $1 and d.created_at >= $2
         and d.id >= outbound_webhook.first_delivery_id(hour.start)
         and d.id < outbound_webhook.first_delivery_id(hour.start + interval '1 hour')
         and ${custom} starts_with(d.event_type, 'custom.'))`;

/** The deliveries of a workspace in each of 24 hours, in its two halves of the log. */
export function countDeliveriesByHour(db: Queryable, workspaceId: string, from: Date): Promise<number[]> {
  return countByHour(db, `${ofHour("")} union all ${ofHour("not")}`, workspaceId, from);
}

/** Whether the log has a test event of the workspace. */
export async function hasTestDelivery(db: Queryable, workspaceId: string): Promise<boolean> {
  const { rows } = await db.query(
    "select exists (select from outbound_webhook.delivery where workspace_id = $1 and kind = 'test') as found",
    [workspaceId],
  );
  return rows[0].found;
}
