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

/** How much of a queue may be in flight at the same time, over all processes. These numbers are never exceeded. */
export interface QueueCaps {
  perGroup: number;
  /** Undefined: one member may use all slots of its group. */
  perMember?: number;
  /**
   * How many of the `perGroup` slots all failing members may hold together, one each. They take turns. Undefined: failing
   * members have the same slots as others.
   */
  failingPerGroup?: number;
}

/** A queue: where its tables are, and its limits. */
export interface FairQueue {
  /** Schema and prefix of its tables: `outbound_webhook.queue`. A constant of the caller, never input. */
  tables: string;
  caps: QueueCaps;
  /** A group that has been served for this long goes behind those that waited in the meantime. */
  turnMs: number;
  /**
   * A slot of a member that is not failing may take up to this many due items, which its holder processes one after the
   * other. Such a queue's items have the additional column `holds_slot`. Undefined: a slot takes one item.
   */
  seriesLength?: number;
}

/** The caps with their defaults, and the number of slots that one failing member may hold. */
export function fullCaps({
  perGroup,
  perMember = perGroup,
  failingPerGroup,
}: QueueCaps): Required<QueueCaps> & { perFailing: number } {
  return {
    perGroup,
    perMember,
    failingPerGroup: failingPerGroup ?? perGroup,
    perFailing: failingPerGroup === undefined ? perMember : 1,
  };
}

/** An SQL expression about an item `q`: whether it holds a slot. Of a series only the first one does. */
export function holdsSlot({ seriesLength }: Pick<FairQueue, "seriesLength">): string {
  return `q.lease_until is not null${seriesLength === undefined ? "" : " and q.holds_slot"}`;
}
