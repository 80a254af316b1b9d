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
   * Claimed items are sent on in messages of at most this many, whose ids are in the column `message_id`, which such a
   * queue's items have in addition. Undefined: a claim notes no messages.
   */
  itemsPerMessage?: number;
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

/** An SQL expression: how many slots a member may hold. Expects the member's columns without prefix. */
export function allowedSlots({ caps }: Pick<FairQueue, "caps">): string {
  const { perMember, perFailing } = fullCaps(caps);
  return `case when failing then ${perFailing} else ${perMember} end`;
}

/**
 * An SQL expression: when a group may next be claimed from, which is when the first of its members with a free slot is
 * due. Expects rows `member` (in_flight, allowed, failing, ready_at) and the number `failing_in_flight` of their group.
 */
export function earliestOfMembers({ caps }: Pick<FairQueue, "caps">): string {
  const { failingPerGroup } = fullCaps(caps);
  return `coalesce(min(member.ready_at) filter (where member.in_flight < member.allowed
      and (not member.failing or failing_in_flight < ${failingPerGroup})), 'infinity')`;
}

/** An SQL expression: `ready_at` of a group. Takes expressions for its slots in use, its turn, and `earliestOfMembers`. */
export function groupReadyAt({ caps }: Pick<FairQueue, "caps">, inFlight: string, turnAt: string, due: string): string {
  return `case when ${inFlight} >= ${fullCaps(caps).perGroup} then 'infinity' else greatest(${turnAt}, ${due}) end`;
}
