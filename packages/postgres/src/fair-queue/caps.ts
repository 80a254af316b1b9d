/** How much of a queue may be in flight at the same time, over all processes. */
export interface QueueCaps {
  perGroup: number;
  /** Undefined: one member may use all slots of its group. */
  perMember?: number;
  /** How many of the `perGroup` slots all members in doubt may hold together, one each. Undefined: no limit. */
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
   * A member is in doubt when it has held its slots for longer than this and for longer than usual. Undefined: never.
   */
  stuckAfterMs?: number;
}

/** A member is in doubt when it has held a slot for this many times its usual time. */
const STUCK_AFTER_USUALS = 4;

/** The caps with their defaults, and the number of slots that a member in doubt may hold. */
export function fullCaps({ perGroup, perMember, failingPerGroup }: QueueCaps): Required<QueueCaps> & {
  perDoubtful: number;
} {
  const caps = {
    perGroup,
    perMember: perMember ?? perGroup,
    failingPerGroup: failingPerGroup ?? perGroup,
    perDoubtful: failingPerGroup === undefined ? (perMember ?? perGroup) : 1,
  };
  for (const [name, cap] of Object.entries(caps)) {
    if (!Number.isInteger(cap) || cap < 1) throw new RangeError(`the cap ${name} must be a whole number from 1`);
  }
  return caps;
}

/**
 * An SQL expression: whether a member is in doubt at the time `now`, because its last attempt failed or because it has
 * held its slots without a result for too long. Expects the member's columns without prefix.
 */
export function isDoubtful({ stuckAfterMs }: Pick<FairQueue, "stuckAfterMs">, now: string): string {
  if (stuckAfterMs === undefined) return "failing";
  if (!Number.isInteger(stuckAfterMs) || stuckAfterMs < 1)
    throw new RangeError("stuckAfterMs must be a whole number of milliseconds");
  return `(failing or (in_flight > 0
    and progress_at < ${now} - greatest(${stuckAfterMs}, ${STUCK_AFTER_USUALS} * usual_ms) * interval '1 millisecond'))`;
}

/**
 * An SQL expression: when a group may next be claimed from, which is when the first of its members with a free slot is
 * due. Expects rows `member` (in_flight, doubtful, ready_at) and the number `doubtful_in_flight` of their group.
 */
export function earliestOfMembers(queue: FairQueue): string {
  const { perMember, perDoubtful, failingPerGroup } = fullCaps(queue.caps);
  return `coalesce(min(member.ready_at) filter (where case when member.doubtful
      then member.in_flight < ${perDoubtful} and doubtful_in_flight < ${failingPerGroup}
      else member.in_flight < ${perMember} end), 'infinity')`;
}
