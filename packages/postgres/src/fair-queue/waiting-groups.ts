/** What waits for a commit. */
export interface Entry<T> {
  item: T;
  groupId: string;
  bytes: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

export interface WaitingLimits {
  /** Of one batch. A larger entry gets its own batch. */
  maxItems: number;
  maxBytes: number;
  /** What may wait; more is refused. */
  maxWaitingItems: number;
  maxWaitingBytes: number;
  /** The part of what may wait that one group may use, from 0 to 1. */
  groupShare: number;
}

interface Waiting<T> {
  entries: Entry<T>[];
  bytes: number;
}

/** The waiting entries by group. The entries of a *held* group are taken separately. */
export class WaitingGroups<T> {
  /** Groups with entries, the next one first. */
  readonly #ordinary = new Map<string, Waiting<T>>();
  /** With or without entries. */
  readonly #held = new Map<string, Waiting<T>>();
  readonly #limits: WaitingLimits;
  #items = 0;
  #bytes = 0;

  constructor(limits: WaitingLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#items;
  }

  /** Whether an entry of this size may wait. */
  hasRoom(groupId: string, bytes: number): boolean {
    const { maxWaitingItems, maxWaitingBytes, groupShare } = this.#limits;
    const group = this.#waitingOf(groupId);
    const fits = (items: number, used: number, share: number) =>
      items < maxWaitingItems * share && (items === 0 || used + bytes <= maxWaitingBytes * share);
    return fits(this.#items, this.#bytes, 1) && fits(group?.entries.length ?? 0, group?.bytes ?? 0, groupShare);
  }

  add(entry: Entry<T>): void {
    this.#put(entry, (entries) => entries.push(entry));
  }

  /** Puts entries that were taken before back to where they were. */
  putBack(taken: readonly Entry<T>[]): void {
    for (const entry of taken.toReversed()) this.#put(entry, (entries) => entries.unshift(entry));
  }

  /** A batch: one entry of each group after the other. */
  take(): Entry<T>[] {
    return this.#takeFrom(this.#ordinary);
  }

  hold(groupId: string): void {
    if (this.#held.has(groupId)) return;
    this.#held.set(groupId, this.#waitingOf(groupId) ?? { entries: [], bytes: 0 });
    this.#ordinary.delete(groupId);
  }

  isHeld(groupId: string): boolean {
    return this.#held.has(groupId);
  }

  release(groupId: string): void {
    const waiting = this.#held.get(groupId);
    this.#held.delete(groupId);
    if (waiting && waiting.entries.length > 0) this.#ordinary.set(groupId, waiting);
  }

  /** The held groups with entries, the next one first. */
  heldWithEntries(): string[] {
    return [...this.#held].filter(([, { entries }]) => entries.length > 0).map(([groupId]) => groupId);
  }

  /** A batch of one held group, which then is the last one. */
  takeHeld(groupId: string): Entry<T>[] {
    const waiting = this.#held.get(groupId);
    if (!waiting) return [];
    this.#held.delete(groupId);
    this.#held.set(groupId, waiting);
    return this.#takeFrom(new Map([[groupId, waiting]]));
  }

  #waitingOf(groupId: string): Waiting<T> | undefined {
    return this.#held.get(groupId) ?? this.#ordinary.get(groupId);
  }

  #put({ groupId, bytes }: Entry<T>, place: (entries: Entry<T>[]) => void): void {
    const waiting = this.#waitingOf(groupId) ?? { entries: [], bytes: 0 };
    if (!this.#held.has(groupId)) this.#ordinary.set(groupId, waiting);
    place(waiting.entries);
    waiting.bytes += bytes;
    this.#bytes += bytes;
    this.#items += 1;
  }

  /** A group that has more entries goes to the end after each of them. */
  #takeFrom(groups: Map<string, Waiting<T>>): Entry<T>[] {
    const { maxItems, maxBytes } = this.#limits;
    const batch: Entry<T>[] = [];
    let batchBytes = 0;
    for (const [groupId, waiting] of groups) {
      const [entry] = waiting.entries;
      if (!entry || batch.length >= maxItems) break;
      if (batch.length > 0 && batchBytes + entry.bytes > maxBytes) break;
      groups.delete(groupId);
      waiting.entries.shift();
      if (waiting.entries.length > 0) groups.set(groupId, waiting);
      waiting.bytes -= entry.bytes;
      this.#bytes -= entry.bytes;
      this.#items -= 1;
      batchBytes += entry.bytes;
      batch.push(entry);
    }
    return batch;
  }
}
