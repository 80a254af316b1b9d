import { createGroupCommit } from "@toolgate/event-bus/group-commit";
import { writeAccepted } from "@toolgate/event-bus/write-accepted";
import { inUnlockedGroups } from "@toolgate/postgres/fair-queue/unlocked-groups";
import type { AcceptedCall, StoreCalls } from "../store/accept.ts";

/** How a hook call was accepted: stored under its own id, or a repeat of one that was stored under another id. */
export interface Acceptance {
  deliveryId: string;
  isDuplicate: boolean;
}

export interface Acceptor extends AsyncDisposable {
  /**
   * Resolves once the call is on disk. Rejects when that failed, or immediately when too many calls are waiting.
   * @param since when the call was received, on the clock of `performance.now`
   */
  accept(call: AcceptedCall, since?: number): Promise<Acceptance>;
}

/** Postgres refuses the call for its data, so repeating it cannot help. */
export class UnstorableCall extends Error {}

interface WaitingCall {
  call: AcceptedCall;
  since: number;
  /** Set once it is known. */
  outcome?: Acceptance | { error: unknown };
  settled: () => void;
}

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
  const lockedLately = new Set<string>();
  const batches = createGroupCommit<WaitingCall>({
    async commit(batch) {
      const storeOf = async (some: WaitingCall[], lockTimeoutMs: number) => {
        const theirs = some.filter(({ outcome }) => !outcome);
        await storeAll(theirs, (calls, sendBefore) => store(calls, { sendBefore, lockTimeoutMs }));
        for (const { outcome, settled } of theirs) if (outcome) settled();
      };
      const workspaceOf = ({ call }: WaitingCall) => call.workspaceId;
      await inUnlockedGroups(batch, workspaceOf, storeOf, lockedLately);
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
      const waiting: WaitingCall = { call, since, settled: resolve };
      batches
        .add(waiting)
        // A part of a batch that failed may still have been stored.
        .catch((error: unknown) => {
          waiting.outcome ??= { error };
        })
        .finally(resolve);
      await promise;
      const { outcome } = waiting;
      if (!outcome) throw new Error("the queue of the workspace is locked");
      if ("error" in outcome) throw outcome.error;
      return outcome;
    },
    [Symbol.asyncDispose]: () => batches[Symbol.asyncDispose](),
  };
}

type Store = (calls: readonly AcceptedCall[], sendBefore: number) => ReturnType<StoreCalls>;

/** Stores calls and sets their outcomes. When it rejects, some calls may have no outcome. */
async function storeAll(batch: readonly WaitingCall[], store: Store): Promise<void> {
  let waiting = batch.filter((call) => !isTooLate(call));
  while (waiting.length > 0) {
    const { firsts, repeats } = separateRepeats(waiting);
    await storeFirsts(firsts, store);
    // The repeat of a call that was just stored has its outcome; the others are tried again.
    const again = repeats.filter(({ repeat, first }) => !settleRepeat(repeat, first));
    waiting = again.map(({ repeat }) => repeat).filter((call) => !isTooLate(call));
  }
}

/** A call that Postgres refuses for its data fails alone. */
async function storeFirsts(firsts: WaitingCall[], store: Store): Promise<void> {
  const refused = await writeAccepted(firsts, async (part) => {
    const sendBefore = Math.min(...part.map(({ since }) => since)) + SEND_WITHIN_MS;
    const calls = part.map(({ call }) => call);
    const originals = await store(calls, sendBefore);
    for (const first of part) {
      const { id } = first.call;
      const original = originals.get(id);
      first.outcome = { deliveryId: original ?? id, isDuplicate: original !== undefined };
    }
  });
  for (const { item, reason } of refused) item.outcome = { error: new UnstorableCall(reason) };
}

function isTooLate(waiting: WaitingCall): boolean {
  if (performance.now() - waiting.since <= SEND_WITHIN_MS) return false;
  waiting.outcome = { error: new Error("the call has waited too long to be stored") };
  return true;
}

/** Two calls of one batch with the same key: only the first may be stored. */
function separateRepeats(waiting: readonly WaitingCall[]) {
  const firstOf = new Map<string, WaitingCall>();
  const firsts: WaitingCall[] = [];
  const repeats: { repeat: WaitingCall; first: WaitingCall }[] = [];
  for (const each of waiting) {
    const { hookId, keys } = each.call;
    const names = keys.map((key) => `${hookId} ${key.toString("latin1")}`);
    const first = names.map((name) => firstOf.get(name)).find((known) => known !== undefined);
    if (first) repeats.push({ repeat: each, first });
    else {
      firsts.push(each);
      for (const name of names) firstOf.set(name, each);
    }
  }
  return { firsts, repeats };
}

function settleRepeat(repeat: WaitingCall, first: WaitingCall): boolean {
  if (!first.outcome || "error" in first.outcome || first.outcome.isDuplicate) return false;
  repeat.outcome = { deliveryId: first.outcome.deliveryId, isDuplicate: true };
  return true;
}
