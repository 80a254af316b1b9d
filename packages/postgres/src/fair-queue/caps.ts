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
  /** Schema and prefix of its tables: `outbound_webhook.queue`. */
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
  const caps = {
    perGroup,
    perMember,
    failingPerGroup: failingPerGroup ?? perGroup,
    perFailing: failingPerGroup === undefined ? perMember : 1,
  };
  for (const [name, cap] of Object.entries(caps)) {
    if (!Number.isInteger(cap) || cap < 1) throw new RangeError(`the cap ${name} must be a whole number from 1`);
  }
  return caps;
}

/** An SQL expression about an item `q`: whether it holds a slot. Of a series only the first one does. */
export function holdsSlot({ seriesLength }: Pick<FairQueue, "seriesLength">): string {
  return `q.lease_until is not null${seriesLength === undefined ? "" : " and q.holds_slot"}`;
}
