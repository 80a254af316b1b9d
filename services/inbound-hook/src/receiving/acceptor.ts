import { createGroupCommit } from "@toolgate/event-bus/group-commit";
import { inUnlockedGroups } from "@toolgate/postgres/fair-queue/unlocked-groups";
import type { AcceptedCall, AcceptStore } from "../store/accept.ts";
import { type Acceptance, createBatchStore, type PendingCall } from "./store-batch.ts";

export interface Acceptor extends AsyncDisposable {
  /**
   * Resolves once the call is on disk. Rejects when that failed, or immediately when too many calls are waiting.
   * @param since when the call was received, on the clock of `performance.now`
   */
  accept(call: AcceptedCall, since?: number): Promise<Acceptance>;
}

const MIB = 1024 * 1024;
/** The size of a call without its body. */
const CALL_BYTES = 500;

/**
 * [IN-22] [IN-23] Stores the hook calls of a lane that arrive together in one transaction.
 */
export function createAcceptor(accepts: AcceptStore): Acceptor {
  const storeBatch = createBatchStore(accepts);
  const batches = createGroupCommit<PendingCall>({
    async commit(batch) {
      const workspaces = [...new Set(batch.map(({ call }) => call.workspaceId))];
      await inUnlockedGroups(workspaces, async (some, lockTimeoutMs) => {
        const chosen = new Set(some);
        const pending = batch.filter(({ call, outcome }) => !outcome && chosen.has(call.workspaceId));
        await storeBatch(pending, lockTimeoutMs);
      });
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
      const pending: PendingCall = { call, since };
      await batches.add(pending).catch((error: unknown) => {
        // A part of a batch that failed may still have been stored.
        pending.outcome ??= { error };
      });
      const { outcome } = pending;
      if (!outcome) throw new Error("the queue of the workspace is locked");
      if ("error" in outcome) throw outcome.error;
      return outcome;
    },
    [Symbol.asyncDispose]: () => batches[Symbol.asyncDispose](),
  };
}
