import { createGroupCommit } from "@toolgate/event-bus/group-commit";
import { isDataError } from "@toolgate/postgres/data-error";
import type { AcceptedCall } from "../store/accept.ts";

/** How a hook call was accepted: stored under its own id, or a repeat of one that was stored under another id. */
interface Acceptance {
  deliveryId: string;
  isDuplicate: boolean;
}

export interface Acceptor extends AsyncDisposable {
  /** Resolves once the call is on disk. Rejects when that failed, or immediately when too many calls are waiting. */
  accept(call: AcceptedCall): Promise<Acceptance>;
}

interface AcceptorOptions {
  /** Stores calls. Two calls of one hook must not share a key. Returns, by id, the original delivery of each repeat. */
  store: (calls: readonly AcceptedCall[]) => Promise<ReadonlyMap<string, string>>;
}

interface Pending {
  call: AcceptedCall;
  /** On the clock of `performance.now`. */
  since: number;
  /** Set by the commit. */
  outcome?: Acceptance | { error: unknown };
}

const MAX_BATCH_CALLS = 200;
const MAX_BATCH_BYTES = 1024 * 1024;
const MAX_WAITING_CALLS = 10_000;
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
/** The gateway waits a little longer, so a call that it has cut is never stored. */
const MAX_WAIT_MS = 5_000;
/** The size of a call without its body. */
const CALL_BYTES = 500;

/** [IN-22] [IN-23] Stores the hook calls that arrive together in one transaction. */
export function createAcceptor({ store }: AcceptorOptions): Acceptor {
  const group = createGroupCommit<Pending>({
    commit: (batch) => commit(batch, store),
    maxItems: MAX_BATCH_CALLS,
    sizeOf: ({ call }) => CALL_BYTES + call.body.length,
    maxBytes: MAX_BATCH_BYTES,
    maxWaitingItems: MAX_WAITING_CALLS,
    maxWaitingBytes: MAX_WAITING_BYTES,
  });
  return {
    async accept(call) {
      const pending: Pending = { call, since: performance.now() };
      // A part of a batch that failed may still have been stored.
      await group.add(pending).catch((error: unknown) => {
        pending.outcome ??= { error };
      });
      const { outcome } = pending;
      if (!outcome) throw new Error("the call was not in the batch");
      if ("error" in outcome) throw outcome.error;
      return outcome;
    },
    [Symbol.asyncDispose]: () => group[Symbol.asyncDispose](),
  };
}

async function commit(batch: Pending[], store: AcceptorOptions["store"]): Promise<void> {
  let waiting = batch.filter((pending) => !isTooLate(pending));
  while (waiting.length > 0) {
    const { firsts, repeats } = separateRepeats(waiting);
    await storeEach(firsts, store);
    // The repeat of a call that was just stored has its outcome; the others are tried again.
    waiting = repeats.filter(({ pending, first }) => !settleRepeat(pending, first)).map(({ pending }) => pending);
  }
}

function isTooLate(pending: Pending): boolean {
  if (performance.now() - pending.since <= MAX_WAIT_MS) return false;
  pending.outcome = { error: new Error("the call has waited too long to be stored") };
  return true;
}

/** Two calls of one batch with the same key: only the first may be stored. */
function separateRepeats(waiting: Pending[]) {
  const firstOf = new Map<string, Pending>();
  const firsts: Pending[] = [];
  const repeats: { pending: Pending; first: Pending }[] = [];
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

function settleRepeat(pending: Pending, first: Pending): boolean {
  if (!first.outcome || "error" in first.outcome || first.outcome.isDuplicate) return false;
  pending.outcome = { deliveryId: first.outcome.deliveryId, isDuplicate: true };
  return true;
}

/** A call that Postgres rejects fails alone: the others are stored in smaller batches. */
async function storeEach(firsts: Pending[], store: AcceptorOptions["store"]): Promise<void> {
  try {
    const originals = await store(firsts.map(({ call }) => call));
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
    await storeEach(firsts.slice(0, middle), store);
    await storeEach(firsts.slice(middle), store);
  }
}
