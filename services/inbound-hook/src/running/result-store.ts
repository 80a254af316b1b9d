import { createGroupCommit } from "@toolgate/event-bus/group-commit";
import { writeAccepted } from "@toolgate/event-bus/write-accepted";
import { inUnlockedGroups } from "@toolgate/postgres/fair-queue/unlocked-groups";
import { pause } from "@toolgate/service-host/every";
import type { RunRecord } from "../store/runs/settle.ts";

/** Writes records in one transaction. */
type Settle = (records: readonly RunRecord[], lockTimeoutMs: number) => Promise<void>;

interface ResultStore extends AsyncDisposable {
  /** Resolves once the record is stored, however long the database is down. */
  store(record: RunRecord, stop: AbortSignal): Promise<void>;
}

const MAX_RECORDS = 100;
const MAX_BYTES = 4 * 1024 * 1024;
const WAIT_MS = 500;
/**
 * About 10 s after a stop. If a run's result is not stored by then, the run becomes interrupted when its lease expires.
 */
const MAX_TRIES_WHILE_STOPPING = 20;
const NEVER = new AbortController().signal;

interface WaitingResult {
  record: RunRecord;
  isStored: boolean;
  settled: () => void;
}

/** Stores the results of runs that end together in one transaction. */
export function createResultStore(settle: Settle, onError: (error: unknown) => void): ResultStore {
  const lockedLately = new Set<string>();
  async function settleAll(some: WaitingResult[], lockTimeoutMs: number): Promise<void> {
    const records = some.map(({ record }) => record);
    const refused = await writeAccepted(records, (part) => settle(part, lockTimeoutMs));
    // A result whose own data Postgres refuses loses its contents.
    const emptied = { args: "", result: "", error: "the result could not be stored" };
    for (const { item } of refused) await settle([{ ...item, ...emptied }], lockTimeoutMs);
    for (const result of some) {
      result.isStored = true;
      result.settled();
    }
  }
  const results = createGroupCommit<WaitingResult>({
    async commit(batch) {
      await inUnlockedGroups(batch, ({ record }) => record.workspaceId, settleAll, lockedLately);
    },
    sizeOf: ({ record: { args, result, error } }) => args.length + result.length + error.length,
    maxItems: MAX_RECORDS,
    maxBytes: MAX_BYTES,
    maxInFlight: 1,
  });

  /** Resolves as soon as the record is stored, whatever happens to the rest of its batch; with false if it was not. */
  async function tryToStore(record: RunRecord): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const result: WaitingResult = { record, isStored: false, settled: resolve };
    results
      .add(result)
      .then(() => {
        if (!result.isStored) throw new Error(`the queue of the workspace ${record.workspaceId} is locked`);
      })
      .catch((error: unknown) => {
        if (!result.isStored) onError(error);
      })
      .finally(resolve);
    await promise;
    return result.isStored;
  }

  return {
    async store(record, stop) {
      let triesLeft = MAX_TRIES_WHILE_STOPPING;
      while (triesLeft > 0) {
        if (await tryToStore(record)) return;
        if (stop.aborted) triesLeft -= 1;
        await pause(WAIT_MS, NEVER);
      }
    },
    [Symbol.asyncDispose]: () => results[Symbol.asyncDispose](),
  };
}
