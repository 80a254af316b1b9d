/*
 * The tables of a two-level fair queue, in the migration of the service that owns them. `tables` is their schema and prefix:
 * `outbound_webhook.queue` names `outbound_webhook.queue_item`.
 *
 * - `queue_group`, the unit of fairness (a workspace): one row per group that ever had work. `ready_at` is the earliest
 *   time at which the group may have a claimable item, or infinity; claims serve groups in that order. Every
 *   transaction that writes the group's members or items holds the lock of this row.
 * - `queue_member` (an endpoint, a hook): `ready_at` is when its oldest waiting item is due, or earlier.
 *   `progress_at` is when it last got a slot. Claims read all members of a group, so a group should have tens of them,
 *   not thousands.
 * - `queue_item`: outstanding work only, one row per item, deleted when the item is finished. `lease_until` is null
 *   while it waits. `created_at` is for the owner, whose own row may be in a partition.
 *
 * The rows are few and change all the time, hence the low fillfactor and the early vacuum.
 */

const TABLES_NAME = /^[a-z_][a-z0-9_]{0,40}\.[a-z_][a-z0-9_]{0,40}$/;

/** Throws unless it is a plain lower-case schema and prefix (`outbound_webhook.queue`), as it becomes part of statements. */
export function assertTablesName(tables: string): void {
  if (!TABLES_NAME.test(tables))
    throw new TypeError(`"${tables}" is not a valid schema and prefix of a queue's tables`);
}
