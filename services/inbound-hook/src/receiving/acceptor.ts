import { createGroupCommit } from "@toolgate/event-bus/group-commit";
import { inUnlockedGroups } from "@toolgate/postgres/fair-queue/unlocked-groups";
import { LRUCache } from "lru-cache";
import type { AcceptedCall, AcceptStore } from "../store/accept.ts";
import { type Acceptance, createBatchStore, type PendingCall } from "./store-batch.ts";

export interface Acceptor extends AsyncDisposable {
  /**
   * Resolves once the call is on disk. Rejects when that failed, or immediately when too many calls are waiting.
   * @param since when the call was received, on the clock of `performance.now`
   */
  accept(call: AcceptedCall, since?: number): Promise<Acceptance>;
}

type WaitingCall = PendingCall & { settled: () => void };

/** How long the calls of a workspace whose queue was locked are stored apart from those of others. */
const LOCKED_FOR_MS = 1_000;
const MAX_LOCKED = 1_000;
const MIB = 1024 * 1024;
/** The size of a call without its body. */
const CALL_BYTES = 500;

/**
 * [IN-22] [IN-23] Stores the hook calls of a lane that arrive together in one transaction.
 */
export function createAcceptor(accepts: AcceptStore): Acceptor {
  const storeBatch = createBatchStore(accepts);
  const lockedLately = new LRUCache<string, true>({ max: MAX_LOCKED, ttl: LOCKED_FOR_MS });
  const batches = createGroupCommit<WaitingCall>({
    async commit(batch) {
      const store = async (some: readonly string[], lockTimeoutMs: number) => {
        const chosen = new Set(some);
        const pending = batch.filter(({ call, outcome }) => !outcome && chosen.has(call.workspaceId));
        await storeBatch(pending, lockTimeoutMs);
        for (const { outcome, settled } of pending) if (outcome) settled();
      };
      const workspaces = [...new Set(batch.map(({ call }) => call.workspaceId))];
      const locked = workspaces.filter((id) => lockedLately.has(id)).map((id) => [id]);
      const free = workspaces.filter((id) => !lockedLately.has(id));
      // Others do not wait for those that were locked a moment ago.
      for (const some of free.length > 0 ? [free, ...locked] : locked)
        for (const id of await inUnlockedGroups(some, store)) lockedLately.set(id, true);
    },
    sizeOf: ({ call }) => CALL_BYTES + call.body.length,
    maxItems: 200,
    maxBytes: MIB,
    maxInFlight: 2,
    maxWaitingItems: 10_000,
    maxWaitingBytes: 32 * MIB,
  });
  return {
    async accept(call, since = performance.now()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const pending: WaitingCall = { call, since, settled: resolve };
      batches
        .add(pending)
        // A part of a batch that failed may still have been stored.
        .catch((error: unknown) => {
          pending.outcome ??= { error };
        })
        .finally(resolve);
      await promise;
      const { outcome } = pending;
      if (!outcome) throw new Error("the queue of the workspace is locked");
      if ("error" in outcome) throw outcome.error;
      return outcome;
    },
    [Symbol.asyncDispose]: () => batches[Symbol.asyncDispose](),
  };
}
