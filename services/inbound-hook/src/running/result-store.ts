import { createGroupCommit } from "@toolgate/event-bus/group-commit";
import { isDataError } from "@toolgate/postgres/data-error";
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

/** Stores the results of runs that end together in one transaction. */
export function createResultStore(settle: Settle, onError: (error: unknown) => void): ResultStore {
  const results = createGroupCommit<{ record: RunRecord; stored: () => void }>({
    async commit(batch) {
      const workspaces = [...new Set(batch.map(({ record }) => record.workspaceId))];
      await inUnlockedGroups(workspaces, async (some, lockTimeoutMs) => {
        const chosen = new Set(some);
        const results = batch.filter(({ record }) => chosen.has(record.workspaceId));
        const records = results.map(({ record }) => record);
        await settleEach(records, (part) => settle(part, lockTimeoutMs));
        for (const { stored } of results) stored();
      });
    },
    sizeOf: ({ record: { args, result, error } }) => args.length + result.length + error.length,
    maxItems: MAX_RECORDS,
    maxBytes: MAX_BYTES,
    maxInFlight: 1,
  });
  /** Resolves as soon as the record is stored, whatever happens to the rest of its batch; false if it was not. */
  function added(record: RunRecord): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const failed = (error: unknown) => {
      onError(error);
      resolve(false);
    };
    let isStored = false;
    const stored = () => {
      isStored = true;
      resolve(true);
    };
    results.add({ record, stored }).then(() => {
      if (!isStored) failed(new Error(`the queue of the workspace ${record.workspaceId} is locked`));
    }, failed);
    return promise;
  }

  return {
    async store(record, stop) {
      let triesLeft = MAX_TRIES_WHILE_STOPPING;
      while (triesLeft > 0) {
        if (await added(record)) return;
        if (stop.aborted) triesLeft -= 1;
        await pause(WAIT_MS, NEVER);
      }
    },
    [Symbol.asyncDispose]: () => results[Symbol.asyncDispose](),
  };
}

/**
 * If Postgres refuses the data of a batch, settles each record alone; one that it refuses again loses its contents.
 */
async function settleEach(
  records: readonly RunRecord[],
  settle: (records: readonly RunRecord[]) => Promise<void>,
): Promise<void> {
  try {
    await settle(records);
    return;
  } catch (error) {
    if (!isDataError(error)) throw error;
  }
  for (const record of records) {
    try {
      await settle([record]);
    } catch (error) {
      if (!isDataError(error)) throw error;
      await settle([{ ...record, args: "", result: "", error: "the result could not be stored" }]);
    }
  }
}
