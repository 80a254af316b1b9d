import { isDataError } from "@toolgate/postgres/data-error";
import type { AcceptedCall, AcceptStore } from "../store/accept.ts";

/** How a hook call was accepted: stored under its own id, or a repeat of one that was stored under another id. */
export interface Acceptance {
  deliveryId: string;
  isDuplicate: boolean;
}

export interface PendingCall {
  call: AcceptedCall;
  /** When it was received, on the clock of `performance.now`. */
  since: number;
  /** Set once it is known. */
  outcome?: Acceptance | { error: unknown };
}

/**
 * Later than this after a call was received, it is not sent to Postgres. The gateway waits 10 s, longer than this and the
 * timeouts of the transaction's three statements, so a call that it has cut is not stored afterwards. The exception is a
 * commit for which the disk needs seconds.
 */
const SEND_WITHIN_MS = 3_500;

/** Stores calls and sets their outcomes. When it rejects, some calls may have no outcome. */
export function createBatchStore({ store }: Pick<AcceptStore, "store">) {
  return async (batch: readonly PendingCall[], lockTimeoutMs: number): Promise<void> => {
    let waiting = batch.filter((pending) => !isTooLate(pending));
    while (waiting.length > 0) {
      const { firsts, repeats } = separateRepeats(waiting);
      await storeEach(firsts);
      // The repeat of a call that was just stored has its outcome; the others are tried again.
      const again = repeats.filter(({ pending, first }) => !settleRepeat(pending, first));
      waiting = again.map(({ pending }) => pending).filter((pending) => !isTooLate(pending));
    }

    /** A call that Postgres rejects fails alone: the others are stored in smaller batches. */
    async function storeEach(firsts: readonly PendingCall[]): Promise<void> {
      const sendBefore = Math.min(...firsts.map(({ since }) => since)) + SEND_WITHIN_MS;
      try {
        const originals = await store(
          firsts.map(({ call }) => call),
          { sendBefore, lockTimeoutMs },
        );
        for (const pending of firsts) {
          const { id } = pending.call;
          const original = originals.get(id);
          pending.outcome = { deliveryId: original ?? id, isDuplicate: original !== undefined };
        }
      } catch (error) {
        if (!isDataError(error)) throw error;
        const [only, ...others] = firsts;
        if (only && others.length === 0) {
          only.outcome = { error };
          return;
        }
        const middle = Math.ceil(firsts.length / 2);
        await storeEach(firsts.slice(0, middle));
        await storeEach(firsts.slice(middle));
      }
    }
  };
}

function isTooLate(pending: PendingCall): boolean {
  if (performance.now() - pending.since <= SEND_WITHIN_MS) return false;
  pending.outcome = { error: new Error("the call has waited too long to be stored") };
  return true;
}

/** Two calls of one batch with the same key: only the first may be stored. */
function separateRepeats(waiting: readonly PendingCall[]) {
  const firstOf = new Map<string, PendingCall>();
  const firsts: PendingCall[] = [];
  const repeats: { pending: PendingCall; first: PendingCall }[] = [];
  for (const pending of waiting) {
    const { hookId, keys } = pending.call;
    const names = keys.map((key) => `${hookId} ${key.toString("latin1")}`);
    const first = names.map((name) => firstOf.get(name)).find((known) => known !== undefined);
    if (first) repeats.push({ pending, first });
    else {
      firsts.push(pending);
      for (const name of names) firstOf.set(name, pending);
    }
  }
  return { firsts, repeats };
}

function settleRepeat(pending: PendingCall, first: PendingCall): boolean {
  if (!first.outcome || "error" in first.outcome || first.outcome.isDuplicate) return false;
  pending.outcome = { deliveryId: first.outcome.deliveryId, isDuplicate: true };
  return true;
}
