import { type FairQueue, fullCaps, SUSPECT_AFTER_USUALS } from "@toolgate/postgres/fair-queue/caps";
import { MAX_USUAL_MS } from "@toolgate/postgres/fair-queue/settle";
import { Heap } from "./heap.ts";
import { borrowedOf, earliestOf, type Group, type Item, type Member, placesOf, type View } from "./queue-state.ts";

export interface Settlement {
  item: Item;
  /** Undefined: finished. */
  nextDueMs?: number | undefined;
  /** Undefined: the attempt says nothing about its member. */
  failing?: boolean;
}

/**
 * The fair queue of `@toolgate/postgres` in memory: the same rules as its SQL, which a test compares with it. Items
 * whose leases have expired are settled by the caller.
 */
export class QueueModel {
  readonly #queue: FairQueue;
  readonly #caps: ReturnType<typeof fullCaps>;
  readonly #groups = new Map<number, Group>();
  readonly #due = new Heap<{ readyMs: number; group: Group }>((a, b) => a.readyMs < b.readyMs);

  constructor(queue: FairQueue) {
    this.#queue = queue;
    this.#caps = fullCaps(queue.caps);
  }

  add(items: readonly Item[]): void {
    for (const item of items) {
      const group = this.#group(item.group);
      const member = memberOf(group, item.member);
      member.waiting.push(item);
      member.readyMs = Math.min(member.readyMs, item.dueMs);
      const isFull = group.inFlight >= this.#caps.perGroup;
      const readyMs = Math.max(group.turnMs, item.dueMs, isFull ? group.slotMs : item.dueMs);
      if (readyMs < group.readyMs) this.#setReady(group, readyMs);
    }
  }

  /** The claimed items, and from how many groups; if that is `maxGroups`, there may be more. */
  claim(nowMs: number, maxGroups: number): { items: Item[]; groups: number } {
    const groups: Group[] = [];
    while (groups.length < maxGroups) {
      const first = this.#due.peek();
      if (!first || first.readyMs > nowMs) break;
      this.#due.pop();
      const { group, readyMs } = first;
      if (group.listedMs !== readyMs) continue;
      group.listedMs = undefined;
      if (group.readyMs === readyMs) groups.push(group);
    }
    return { items: groups.flatMap((group) => this.#claimFrom(group, nowMs)), groups: groups.length };
  }

  #claimFrom(group: Group, nowMs: number): Item[] {
    const views = [...group.members.values()].map((member) => this.#viewOf(member, nowMs));
    const free = this.#caps.perGroup + borrowedOf(views, this.#queue.caps) - group.inFlight;
    const offers = this.#candidates(group, views, nowMs).map(({ member, slots }) => {
      const read: Item[] = [];
      for (let count = 0; count <= slots; count += 1) {
        const item = member.waiting.pop();
        if (!item) break;
        read.push(item);
      }
      return { member, slots, read, taken: 0 };
    });
    const offered = offers.flatMap((offer) =>
      offer.read.slice(0, offer.slots).flatMap((item) => (item.dueMs <= nowMs ? [{ item, offer }] : [])),
    );
    const claimed = offered.toSorted((a, b) => byDue(a.item, b.item)).slice(0, Math.max(0, free));
    for (const { offer } of claimed) offer.taken += 1;
    for (const { member, read, taken } of offers) {
      for (const item of read.slice(taken)) member.waiting.push(item);
      if (member.inFlight === 0 && taken > 0) member.progressMs = nowMs;
      member.inFlight += taken;
      member.readyMs = read[taken]?.dueMs ?? Number.POSITIVE_INFINITY;
    }
    group.inFlight += claimed.length;
    if (group.turnMs <= nowMs - this.#queue.turnMs) group.turnMs = nowMs;
    this.#schedule(group, views);
    return claimed.map(({ item }) => item);
  }

  /** Frees the slots of items. Returns whether one of their groups is due within a second. */
  settle(settlements: readonly Settlement[], nowMs: number): boolean {
    let findsWork = false;
    for (const [id, ofGroup] of Map.groupBy(settlements, ({ item }) => item.group)) {
      const group = this.#group(id);
      for (const [memberId, freed] of Map.groupBy(ofGroup, ({ item }) => item.member))
        settleMember(memberOf(group, memberId), freed, nowMs);
      group.inFlight -= ofGroup.length;
      this.#schedule(
        group,
        [...group.members.values()].map((member) => this.#viewOf(member, nowMs)),
      );
      if (group.readyMs <= nowMs + WORK_SOON_MS) findsWork = true;
    }
    return findsWork;
  }

  #viewOf(member: Member, nowMs: number): View {
    const { suspectAfterMs, hangsAfterMs } = this.#queue;
    const { inFlight, progressMs = nowMs } = member;
    const isLate = (leastMs: number | undefined) =>
      leastMs !== undefined && inFlight > 0 && progressMs < nowMs - patienceMs(member, leastMs);
    const suspect = member.failing || isLate(suspectAfterMs);
    const hanging = isLate(hangsAfterMs) && !member.failing && member.usualMs > 0;
    return { member, suspect, hanging, slots: (suspect ? this.#caps.perSuspect : this.#caps.perMember) - inFlight };
  }

  #candidates(group: Group, views: readonly View[], nowMs: number): View[] {
    const borrowed = borrowedOf(views, this.#queue.caps);
    if (group.inFlight >= this.#caps.perGroup + borrowed) return [];
    const due = views.filter(({ member, slots }) => member.readyMs <= nowMs && slots > 0);
    const places = placesOf(group, views, this.#caps, borrowed);
    const ordinary = due.filter(({ suspect }) => !suspect).toSorted((a, b) => byReady(a.member, b.member));
    const suspects = due
      .filter(({ suspect }) => suspect)
      .toSorted((a, b) => progressOf(a.member) - progressOf(b.member) || byReady(a.member, b.member));
    return [...ordinary.slice(0, places.ordinary), ...suspects.slice(0, Math.max(0, places.suspect))];
  }

  #schedule(group: Group, views: readonly View[]): void {
    const borrowed = borrowedOf(views, this.#queue.caps);
    group.slotMs = this.#nextSlotMs(group, views, borrowed);
    this.#setReady(group, Math.max(group.turnMs, earliestOf(views, this.#caps), group.slotMs));
  }

  /** When the group may next have a free slot. */
  #nextSlotMs(group: Group, views: readonly View[], borrowed: number): number {
    const { caps, hangsAfterMs = 0 } = this.#queue;
    if (group.inFlight < this.#caps.perGroup + borrowed) return Number.NEGATIVE_INFINITY;
    let nextMs = Number.POSITIVE_INFINITY;
    if (borrowed >= (caps.maxBorrowed ?? 0)) return nextMs;
    for (const { member, hanging } of views) {
      if (hanging || member.failing || member.inFlight === 0 || member.usualMs === 0) continue;
      nextMs = Math.min(nextMs, (member.progressMs ?? 0) + patienceMs(member, hangsAfterMs) + 1);
    }
    return nextMs;
  }

  #setReady(group: Group, readyMs: number): void {
    group.readyMs = readyMs;
    if (readyMs === Number.POSITIVE_INFINITY || group.listedMs === readyMs) return;
    group.listedMs = readyMs;
    this.#due.push({ readyMs, group });
  }

  #group(id: number): Group {
    const existing = this.#groups.get(id);
    if (existing) return existing;
    const group: Group = {
      members: new Map(),
      inFlight: 0,
      turnMs: Number.NEGATIVE_INFINITY,
      readyMs: Number.POSITIVE_INFINITY,
      slotMs: Number.NEGATIVE_INFINITY,
      listedMs: undefined,
    };
    this.#groups.set(id, group);
    return group;
  }
}

/** As in outbound-webhook's results: work that is due sooner wakes the dispatcher. */
const WORK_SOON_MS = 1_000;

/** How long a member may hold its slots before it is suspect or hangs. */
function patienceMs({ usualMs }: Member, leastMs: number): number {
  return Math.max(leastMs, SUSPECT_AFTER_USUALS * usualMs);
}

function settleMember(member: Member, freed: readonly Settlement[], nowMs: number): void {
  const failing = freed.findLast((settlement) => settlement.failing !== undefined)?.failing;
  if (failing === false) {
    const heldMs = Math.min(Math.max(nowMs - (member.progressMs ?? nowMs), 1), MAX_USUAL_MS);
    member.usualMs = Math.round(member.usualMs === 0 ? heldMs : (3 * member.usualMs + heldMs) / 4);
  }
  member.failing = failing ?? member.failing;
  member.progressMs = nowMs;
  member.inFlight -= freed.length;
  for (const { item, nextDueMs } of freed) {
    if (nextDueMs === undefined) continue;
    item.dueMs = nextDueMs;
    member.waiting.push(item);
    member.readyMs = Math.min(member.readyMs, nextDueMs);
  }
}

function memberOf(group: Group, id: number): Member {
  const existing = group.members.get(id);
  if (existing) return existing;
  const waiting = new Heap<Item>((a, b) => byDue(a, b) < 0);
  const member = { id, waiting, inFlight: 0, failing: false, readyMs: Number.POSITIVE_INFINITY, usualMs: 0 };
  group.members.set(id, member);
  return member;
}

const byDue = (a: Item, b: Item) => a.dueMs - b.dueMs || a.id - b.id;
const byReady = (a: Member, b: Member) => a.readyMs - b.readyMs || a.id - b.id;
const progressOf = (member: Member) => member.progressMs ?? Number.MIN_SAFE_INTEGER;
