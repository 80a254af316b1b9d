/** How much of a queue may be in flight at the same time, over all processes. */
export interface QueueCaps {
  perGroup: number;
  /** Undefined: one member may use all slots of its group. */
  perMember?: number;
  /**
   * A group may choose another `perMember`, up to this number: in the column `per_member` of its row, which such a queue
   * has in addition (null: `perMember`). Slots beyond `perMember` are the last to be given, and only to members that have
   * succeeded before. Undefined: groups cannot choose.
   */
  maxPerMember?: number;
  /** How many of the `perGroup` slots all suspect members may hold together, one each. Undefined: no limit. */
  suspectPerGroup?: number;
  /**
   * A group whose members begin to hang *borrows* slots for its other members: one for each slot that members which have
   * succeeded before hold for much longer than usual, not counting the first `suspectPerGroup`; at most this many beyond
   * `perGroup`. Needs `hangsAfterMs`, and the column `slot_at` in the group's row. Undefined: none.
   */
  maxBorrowed?: number;
}

/** A queue: where its tables are, and its limits. */
export interface FairQueue {
  /** Schema and prefix of its tables: `outbound_webhook.queue`. */
  tables: string;
  caps: QueueCaps;
  /** A group that has been served for this long goes behind those that waited in the meantime. */
  turnMs: number;
  /**
   * A member is *suspect* (it may be hanging or failing) when its last attempt failed, or when it has held its slots for
   * longer than this and for longer than usual. Undefined: only a failed attempt makes a member suspect.
   */
  suspectAfterMs?: number;
  /**
   * A member that has succeeded before *hangs* when it has held its slots for longer than this, and for much longer than
   * usual. Not less than `suspectAfterMs`. Undefined: none does.
   */
  hangsAfterMs?: number;
  /**
   * Claimed items are sent on in messages of at most this many, whose ids are in the column `message_id`, which such a
   * queue's items have in addition. Undefined: a claim notes no messages.
   */
  itemsPerMessage?: number;
}

/** A member becomes suspect when it has held a slot for this many times its usual time. */
export const SUSPECT_AFTER_USUALS = 4;

/** The caps with their defaults, and the number of slots that one suspect member may hold. */
export function fullCaps({
  perGroup,
  perMember,
  maxPerMember,
  suspectPerGroup,
}: QueueCaps): Required<Omit<QueueCaps, "maxBorrowed">> & { perSuspect: number } {
  const caps = {
    perGroup,
    perMember: perMember ?? perGroup,
    maxPerMember: maxPerMember ?? perMember ?? perGroup,
    suspectPerGroup: suspectPerGroup ?? perGroup,
    perSuspect: suspectPerGroup === undefined ? (perMember ?? perGroup) : 1,
  };
  for (const [name, cap] of Object.entries(caps)) {
    if (!Number.isInteger(cap) || cap < 1) throw new RangeError(`the cap ${name} must be a whole number from 1`);
  }
  if (caps.maxPerMember < caps.perMember) throw new RangeError("the cap maxPerMember must not be below perMember");
  return caps;
}

/**
 * An SQL expression: whether a member is suspect at the time `now`, because its last attempt failed or because it has
 * held its slots without a result for too long. Expects the member's columns without prefix.
 */
export function isSuspect({ suspectAfterMs }: Pick<FairQueue, "suspectAfterMs">, now: string): string {
  if (suspectAfterMs === undefined) return "failing";
  return `(failing or (in_flight > 0 and progress_at < ${now} - ${patience(suspectAfterMs)}))`;
}

/** An SQL expression: an interval of this length, or a multiple of the member's usual time if that is longer. */
export function patience(leastMs: number): string {
  if (!Number.isInteger(leastMs) || leastMs < 1)
    throw new RangeError("suspectAfterMs and hangsAfterMs must be whole numbers of milliseconds");
  return `greatest(${leastMs}, ${SUSPECT_AFTER_USUALS} * usual_ms) * interval '1 millisecond'`;
}

/**
 * An SQL expression: how many slots a member may hold. Expects the member's columns and `suspect` without prefix, and the
 * group's column `per_member` if groups may choose.
 */
export function allowedSlots({ caps }: Pick<FairQueue, "caps">): string {
  const { perMember, maxPerMember, perSuspect } = fullCaps(caps);
  if (caps.maxPerMember === undefined) return `case when suspect then ${perSuspect} else ${perMember} end`;
  return `case when suspect then ${perSuspect}
    else least(coalesce(per_member, ${perMember}), case when usual_ms > 0 then ${maxPerMember} else ${perMember} end) end`;
}

/**
 * An SQL expression: when a group may next be claimed from, which is when the first of its members with a free slot is
 * due. Expects rows `member` (in_flight, allowed, suspect, ready_at) and the number `suspect_in_flight` of their group.
 */
export function earliestOfMembers(queue: FairQueue): string {
  const { suspectPerGroup } = fullCaps(queue.caps);
  return `coalesce(min(member.ready_at) filter (where member.in_flight < member.allowed
      and (member.suspect is not true or suspect_in_flight < ${suspectPerGroup})), 'infinity')`;
}
