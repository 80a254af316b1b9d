import { type FairQueue, fullCaps, patience, type QueueCaps } from "./caps.ts";

/** An SQL expression: whether a member hangs at the time `now`. Expects the member's columns without prefix. */
export function isHanging({ hangsAfterMs }: Pick<FairQueue, "hangsAfterMs">, now: string): string {
  if (hangsAfterMs === undefined) return "false";
  return `(not failing and usual_ms > 0 and in_flight > 0 and progress_at < ${now} - ${patience(hangsAfterMs)})`;
}

/** How many slots a group may borrow whose suspect members hold so many together, and its hanging ones so many of these. */
export function slotsToBorrow(caps: QueueCaps, ofSuspect: number, ofHanging: number): number {
  return Math.min(Math.max(ofSuspect - fullCaps(caps).suspectPerGroup, 0), ofHanging, caps.maxBorrowed ?? 0);
}

/** The same as an SQL expression of such expressions. */
export function slotsToBorrowSql({ caps }: Pick<FairQueue, "caps">, ofSuspect: string, ofHanging: string): string {
  const { maxBorrowed } = caps;
  if (maxBorrowed === undefined) return "0";
  if (!Number.isInteger(maxBorrowed) || maxBorrowed < 1)
    throw new RangeError("the cap maxBorrowed must be a whole number from 1");
  return `least(greatest(${ofSuspect} - ${fullCaps(caps).suspectPerGroup}, 0), ${ofHanging}, ${maxBorrowed})`;
}

/**
 * Two more columns of a query that aggregates the rows of a group's members, with `suspect` and `hanging`: the slots that the
 * group may `borrow`, and when the next of its members that hold slots would hang (`next_hang_at`).
 */
export function borrowColumns(queue: FairQueue): string {
  const { caps, hangsAfterMs } = queue;
  if (caps.maxBorrowed === undefined) return "";
  if (hangsAfterMs === undefined) throw new RangeError("the cap maxBorrowed needs hangsAfterMs");
  const inFlight = (condition: string) => `coalesce(sum(in_flight) filter (where ${condition}), 0)`;
  return `, ${slotsToBorrowSql(queue, inFlight("suspect"), inFlight("hanging"))} as borrow,
      coalesce(min(progress_at + ${patience(hangsAfterMs)} + interval '1 millisecond')
        filter (where in_flight > 0 and usual_ms > 0 and not failing and hanging is not true), 'infinity') as next_hang_at`;
}

/** The same columns of a row `earliest` that a left join may not have found. */
export function borrowColumnsOf({ caps }: FairQueue): string {
  if (caps.maxBorrowed === undefined) return "";
  return ", coalesce(earliest.borrow, 0) as borrow, coalesce(earliest.next_hang_at, 'infinity') as next_hang_at";
}

/**
 * Assignments of an update of groups: `ready_at`, and `slot_at` (when a group next has a free slot, as far as that is known:
 * -infinity when it has one, infinity when it needs a result). Takes expressions for the group's new number of slots in use and
 * its turn, and the name of the row with `ready_at` of its members and `borrowColumns`.
 */
export function groupTimes({ caps }: FairQueue, inFlight: string, turnAt: string, row: string): string {
  const { perGroup } = fullCaps(caps);
  if (caps.maxBorrowed === undefined)
    return `ready_at = case when ${inFlight} >= ${perGroup} then 'infinity' else greatest(${turnAt}, ${row}.ready_at) end`;
  const slotAt = `case when ${inFlight} < ${perGroup} + ${row}.borrow then '-infinity'::timestamptz
      when ${row}.borrow >= ${caps.maxBorrowed} then 'infinity' else ${row}.next_hang_at end`;
  return `slot_at = ${slotAt}, ready_at = greatest(${turnAt}, ${row}.ready_at, ${slotAt})`;
}
