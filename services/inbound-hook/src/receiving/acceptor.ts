import { createGroupCommit } from "@toolgate/event-bus/group-commit";
import { isLockTimeout } from "@toolgate/postgres/data-error";
import type { AcceptedCall, AcceptStore } from "../store/accept.ts";
import { type Acceptance, createBatchStore, type PendingCall } from "./store-batch.ts";

export interface Acceptor extends AsyncDisposable {
  /**
   * Resolves once the call is on disk. Rejects when that failed, or immediately when too many calls are waiting.
   * @param since when the call was received, on the clock of `performance.now`
   */
  accept(call: AcceptedCall, since?: number): Promise<Acceptance>;
}

interface Pending extends PendingCall {
  /** The queue of its workspace is locked. */
  held: boolean;
}

const MAX_BATCH_CALLS = 200;
const MAX_BATCH_BYTES = 1024 * 1024;
const MAX_WAITING_CALLS = 10_000;
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
/** The size of a call without its body. */
const CALL_BYTES = 500;
/** Longest wait for a queue's lock. Most waits are for a claim or a result, which hold it for milliseconds. */
const LOCK_TIMEOUT_MS = 500;
/** The same for a workspace whose queue is known to be locked. */
const HELD_LOCK_TIMEOUT_MS = 1_500;

/**
 * [IN-22] [IN-23] Stores the hook calls of a lane that arrive together in one transaction. The calls of a workspace whose
 * queue stays locked are stored separately, one transaction at a time, so that others do not wait for that lock.
 */
export function createAcceptor(accepts: AcceptStore): Acceptor {
  const held = new Set<string>();
  const store = createBatchStore<Pending>(accepts);

  async function commit(batch: Pending[]): Promise<void> {
    let calls = markHeld(batch);
    while (calls.length > 0) {
      try {
        return await store(calls, LOCK_TIMEOUT_MS);
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
      }
      calls = calls.filter((pending) => !pending.outcome);
      const unlocked = await accepts.unlockedOf(workspacesOf(calls), { sendBefore: Number.POSITIVE_INFINITY });
      const locked = workspacesOf(calls).filter((workspaceId) => !unlocked.has(workspaceId));
      // If all locks are free by now, it is unclear which one was not: each workspace gets a transaction of its own.
      for (const workspaceId of locked.length > 0 ? locked : unlocked) held.add(workspaceId);
      calls = markHeld(calls);
    }
  }

  function markHeld(batch: Pending[]): Pending[] {
    for (const pending of batch) pending.held = held.has(pending.call.workspaceId);
    return batch.filter((pending) => !pending.held);
  }

  /** Workspaces whose lock is free by now come first. */
  async function commitHeld(batch: Pending[]): Promise<void> {
    const unlocked = await accepts.unlockedOf(workspacesOf(batch), { sendBefore: Number.POSITIVE_INFINITY });
    const workspaces = new Set([...unlocked, ...workspacesOf(batch)]);
    for (const workspaceId of workspaces) {
      const calls = batch.filter(({ call }) => call.workspaceId === workspaceId);
      try {
        await store(calls, HELD_LOCK_TIMEOUT_MS);
        held.delete(workspaceId);
      } catch (error) {
        for (const pending of calls) pending.outcome ??= { error };
      }
    }
  }

  const limits = {
    maxItems: MAX_BATCH_CALLS,
    sizeOf: ({ call }: Pending) => CALL_BYTES + call.body.length,
    maxBytes: MAX_BATCH_BYTES,
    maxWaitingItems: MAX_WAITING_CALLS,
    maxWaitingBytes: MAX_WAITING_BYTES,
  };
  const group = createGroupCommit<Pending>({ ...limits, commit });
  const heldGroup = createGroupCommit<Pending>({ ...limits, commit: commitHeld, maxInFlight: 1 });
  return {
    async accept(call, since = performance.now()) {
      const pending: Pending = { call, since, held: false };
      // A part of a batch that failed may still have been stored.
      const fail = (error: unknown) => {
        pending.outcome ??= { error };
      };
      await group.add(pending).catch(fail);
      if (!pending.outcome && pending.held) await heldGroup.add(pending).catch(fail);
      const { outcome } = pending;
      if (!outcome) throw new Error("the call was not in the batch");
      if ("error" in outcome) throw outcome.error;
      return outcome;
    },
    async [Symbol.asyncDispose]() {
      await group[Symbol.asyncDispose]();
      await heldGroup[Symbol.asyncDispose]();
    },
  };
}

function workspacesOf(batch: readonly Pending[]): string[] {
  return [...new Set(batch.map(({ call }) => call.workspaceId))];
}
