import type { Queryable } from "@toolgate/postgres/pool";

/** Of each hour; enough to see a busy one, and no more rows are read. */
export const MAX_DELIVERIES_COUNTED = 1_000;

/** The hour is that of the id: with one of created_at, the planner would read other workspaces. */
const ofHour = (custom: string) => `select from outbound_webhook.delivery d
       where d.workspace_id = $1 and d.created_at >= $2
         and d.id >= outbound_webhook.first_delivery_id(hour.start)
         and d.id < outbound_webhook.first_delivery_id(hour.start + interval '1 hour')
         and ${custom} starts_with(d.event_type, 'custom.')`;

/** The deliveries of a workspace in each of 24 hours, counted up to `MAX_DELIVERIES_COUNTED`, in its two halves of the log. */
export async function countDeliveriesByHour(db: Queryable, workspaceId: string, from: Date): Promise<number[]> {
  const { rows } = await db.query(
    `select (select count(*)::integer from (
       (${ofHour("")}) union all (${ofHour("not")}) limit $3) one) as count
     from (select $2::timestamptz + n * interval '1 hour' as start from generate_series(0, 23) as n) as hour
     order by hour.start`,
    [workspaceId, from, MAX_DELIVERIES_COUNTED],
  );
  return rows.map(({ count }) => count);
}

/** Whether the log has a test event of the workspace. */
export async function hasTestDelivery(db: Queryable, workspaceId: string): Promise<boolean> {
  const { rows } = await db.query(
    "select exists (select from outbound_webhook.delivery where workspace_id = $1 and kind = 'test') as found",
    [workspaceId],
  );
  return rows[0].found;
}
