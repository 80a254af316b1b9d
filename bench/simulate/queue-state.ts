import { slotsToBorrow } from "@toolgate/postgres/fair-queue/borrowing";
import type { fullCaps, QueueCaps } from "@toolgate/postgres/fair-queue/caps";
import type { Heap } from "./heap.ts";

/** A delivery in the queue. */
export interface Item {
  readonly id: number;
  /** Its workspace. */
  readonly group: number;
  /** Its endpoint. */
  readonly member: number;
  attempt: number;
  dueMs: number;
  /** When its event happened. */
  readonly eventMs: number;
}

export interface Member {
  readonly id: number;
  readonly waiting: Heap<Item>;
  inFlight: number;
  failing: boolean;
  readyMs: number;
  progressMs?: number;
  usualMs: number;
}

export interface Group {
  readonly members: Map<number, Member>;
  inFlight: number;
  turnMs: number;
  readyMs: number;
  /** When it may next have a free slot. */
  slotMs: number;
  /** The time under which it is in the list of due groups. */
  listedMs: number | undefined;
}

/** A member as a claim sees it. */
export interface View {
  readonly member: Member;
  readonly suspect: boolean;
  readonly hanging: boolean;
  readonly slots: number;
}

type Caps = ReturnType<typeof fullCaps>;

function suspectInFlight(views: readonly View[]): number {
  let inFlight = 0;
  for (const { member, suspect } of views) if (suspect) inFlight += member.inFlight;
  return inFlight;
}

/** How many slots a group may borrow. */
export function borrowedOf(views: readonly View[], caps: QueueCaps): number {
  let inFlight = 0;
  for (const { member, hanging } of views) if (hanging) inFlight += member.inFlight;
  return slotsToBorrow(caps, suspectInFlight(views), inFlight);
}

/** How many ordinary and how many suspect members may get slots of a group. */
export function placesOf(
  group: Group,
  views: readonly View[],
  caps: Caps,
  borrowed: number,
): { ordinary: number; suspect: number } {
  const free = caps.perGroup + borrowed - group.inFlight;
  return { ordinary: free, suspect: Math.min(caps.suspectPerGroup - suspectInFlight(views), free) };
}

/** When the first of the members with a free slot is due. Slots may have changed since the views were made. */
export function earliestOf(views: readonly View[], caps: Caps): number {
  const ofSuspects = suspectInFlight(views);
  let earliestMs = Number.POSITIVE_INFINITY;
  for (const { member, suspect } of views) {
    const isFree = suspect
      ? member.inFlight < caps.perSuspect && ofSuspects < caps.suspectPerGroup
      : member.inFlight < caps.perMember;
    if (isFree && member.readyMs < earliestMs) earliestMs = member.readyMs;
  }
  return earliestMs;
}
