import { isLockTimeout } from "../data-error.ts";
import { type Entry, WaitingGroups, type WaitingLimits } from "./waiting-groups.ts";

/** Collects items of the groups of a fair queue, and commits many of them in one transaction. */
export interface GroupBatches<T> extends AsyncDisposable {
  /**
   * Resolves once the item is committed. Rejects if that fails, or immediately when too much is waiting, of its group or
   * in total.
   */
  add(item: T): Promise<void>;
}

export interface GroupBatchesOptions<T> extends WaitingLimits {
  groupOf: (item: T) => string;
  /** Bytes of an item. */
  sizeOf: (item: T) => number;
  /** Commits items in one transaction that locks their groups, or fails (`isLockTimeout`) after this wait for a lock. */
  commit: (items: T[], lockTimeoutMs: number) => Promise<void>;
  /** Whether an item is finished although a lock ended the commit of its batch. Default: never. */
  isDone?: (item: T) => boolean;
  /** Those of the groups that nobody has locked now. */
  unlockedOf: (groupIds: readonly string[]) => Promise<ReadonlySet<string>>;
  /**
   * Commits that may run at the same time, in addition to one for a group that is locked. With 1, the items of a
   * group are committed in their order.
   */
  maxInFlight: number;
}

/** Most waits are for another transaction of the queue, which holds the lock for milliseconds. */
const LOCK_TIMEOUT_MS = 500;
/** Of a group that is known to be locked. */
const HELD_LOCK_TIMEOUT_MS = 1_500;
const MAX_HELD_TO_CHOOSE_FROM = 100;

/**
 * A batch takes one item of each group after the other, so that a group with many items does not delay those of others. A group that stays
 * locked is held: its items are committed separately, one held group at a time, so that others do not wait for its lock.
 * Disposing commits the items that are left and waits for that; items added afterwards are refused.
 */
export function createGroupBatches<T>(options: GroupBatchesOptions<T>): GroupBatches<T> {
  const { groupOf, sizeOf, isDone = () => false, unlockedOf, maxInFlight } = options;
  const waiting = new WaitingGroups<T>(options);
  /** The commits that run, each with its groups. */
  const running = new Map<Promise<void>, ReadonlySet<string>>();
  let heldRun: Promise<void> | undefined;
  let scheduled = false;
  let closed = false;

  async function commit(entries: readonly Entry<T>[], lockTimeoutMs: number): Promise<void> {
    await options.commit(
      entries.map(({ item }) => item),
      lockTimeoutMs,
    );
    for (const { resolve } of entries) resolve();
  }

  async function commitBatch(batch: readonly Entry<T>[]): Promise<void> {
    let entries = batch;
    try {
      while (entries.length > 0) {
        try {
          return await commit(entries, LOCK_TIMEOUT_MS);
        } catch (error) {
          if (!isLockTimeout(error)) throw error;
        }
        for (const { item, resolve } of entries) if (isDone(item)) resolve();
        entries = entries.filter(({ item }) => !isDone(item));
        const unlocked = await unlockedOf(groupsOf(entries));
        entries = withoutLocked(entries, unlocked);
      }
    } catch (error) {
      for (const { reject } of entries) reject(error);
    }
  }

  /** Holds the locked groups and puts their entries back. */
  function withoutLocked(entries: readonly Entry<T>[], unlocked: ReadonlySet<string>): Entry<T>[] {
    const groupIds = groupsOf(entries);
    const locked = groupIds.filter((groupId) => !unlocked.has(groupId));
    // If all locks are free by now, it is unclear which one was not: each group gets a transaction of its own.
    for (const groupId of locked.length > 0 ? locked : groupIds) waiting.hold(groupId);
    waiting.putBack(entries.filter(({ groupId }) => waiting.isHeld(groupId)));
    return entries.filter(({ groupId }) => !waiting.isHeld(groupId));
  }

  /** Commits items of one held group: of one whose lock is free by now, if there is any. */
  async function commitHeld(groupIds: readonly string[], first: string): Promise<void> {
    const unlocked =
      groupIds.length > 1 ? await unlockedOf(groupIds).catch(() => new Set<string>()) : new Set<string>();
    const groupId = groupIds.find((id) => unlocked.has(id)) ?? first;
    const entries = waiting.takeHeld(groupId);
    try {
      await commit(entries, HELD_LOCK_TIMEOUT_MS);
      waiting.release(groupId);
    } catch (error) {
      for (const { reject } of entries) reject(error);
    }
  }

  /** A group whose earlier items are still being committed waits for them, so that its items keep their order. */
  function isBusy(groupId: string): boolean {
    return [...running.values()].some((groups) => groups.has(groupId));
  }

  function flush(): void {
    scheduled = false;
    while (running.size < maxInFlight) {
      const batch = waiting.take();
      if (batch.length === 0) break;
      const run = commitBatch(batch).then(() => {
        running.delete(run);
        flush();
      });
      running.set(run, new Set(batch.map(({ groupId }) => groupId)));
    }
    if (heldRun) return;
    const held = waiting.heldWithEntries().filter((groupId) => !isBusy(groupId));
    const groupIds = held.slice(0, MAX_HELD_TO_CHOOSE_FROM);
    const [first] = groupIds;
    if (first === undefined) return;
    heldRun = commitHeld(groupIds, first).then(() => {
      heldRun = undefined;
      flush();
    });
  }

  return {
    add(item) {
      if (closed) return Promise.reject(new Error("closed: nothing more is committed"));
      const [groupId, bytes] = [groupOf(item), sizeOf(item)];
      if (!waiting.hasRoom(groupId, bytes))
        return Promise.reject(new Error(`overloaded: ${waiting.size} items wait to be committed`));
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      waiting.add({ item, groupId, bytes, resolve, reject });
      if (!scheduled) {
        scheduled = true;
        setImmediate(flush);
      }
      return promise;
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      flush();
      while (running.size > 0 || heldRun) await Promise.all([...running.keys(), heldRun]);
    },
  };
}

function groupsOf<T>(entries: readonly Entry<T>[]): string[] {
  return [...new Set(entries.map(({ groupId }) => groupId))];
}
