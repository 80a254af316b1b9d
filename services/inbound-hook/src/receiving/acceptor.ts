import { writeAccepted } from "@toolgate/event-bus/write-accepted";
import type { AcceptedCall, StoreCalls } from "../store/accept.ts";
import { createWorkspaceCommit, type WorkspaceCommit } from "../store/workspace-commit.ts";

/** How a hook call was accepted: stored under its own id, or a repeat of one that was stored under another id. */
interface Acceptance {
  deliveryId: string;
  isDuplicate: boolean;
}

/** Rejects a call that could not be stored, and immediately when too many calls are waiting. */
export type Acceptor = WorkspaceCommit<AcceptedCall, Acceptance>;

/**
 * Later than this after a call was received, it is not sent to Postgres. The gateway waits 10 s, longer than this and the
 * timeouts of the transaction's three statements, so a call that it has cut is not stored afterwards. The exception is a
 * commit for which the disk needs seconds.
 */
const SEND_WITHIN_MS = 3_500;
const MIB = 1024 * 1024;
/** The size of a call without its body. */
const CALL_BYTES = 500;

/** [IN-22] [IN-23] Stores the hook calls of a lane that arrive together in one transaction. */
export function createAcceptor(store: StoreCalls): Acceptor {
  return createWorkspaceCommit<AcceptedCall, Acceptance>({
    async store(calls, lockTimeoutMs) {
      const tooOld = performance.now() - SEND_WITHIN_MS;
      for (const { item, reject } of calls)
        if (item.since < tooOld) reject(new Error("the call has waited too long to be stored"));
      const inTime = calls.filter(({ isSettled }) => !isSettled);
      // A call that Postgres refuses for its data fails alone, and of calls with the same key the first is stored alone.
      const refused = await writeAccepted(inTime, async (part) => {
        const sendBefore = Math.min(...part.map(({ item }) => item.since)) + SEND_WITHIN_MS;
        const stored = part.map(({ item }) => item);
        const originals = await store(stored, { sendBefore, lockTimeoutMs });
        for (const { item, resolve } of part) {
          const original = originals.get(item.id);
          resolve({ deliveryId: original ?? item.id, isDuplicate: original !== undefined });
        }
      });
      for (const { item, reason } of refused) item.reject(new Error(reason));
    },
    sizeOf: ({ item }) => CALL_BYTES + item.body.length,
    maxItems: 200,
    maxBytes: MIB,
    maxInFlight: 2,
    maxWaitingItems: 10_000,
    maxWaitingBytes: 32 * MIB,
  });
}
