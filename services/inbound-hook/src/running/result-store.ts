import { writeAccepted } from "@toolgate/event-bus/write-accepted";
import { pause } from "@toolgate/service-host/every";
import type { RunRecord } from "../store/runs/settle.ts";
import { createWorkspaceCommit } from "../store/workspace-commit.ts";

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
  const results = createWorkspaceCommit<RunRecord, void>({
    async store(waiting, lockTimeoutMs) {
      const records = waiting.map(({ item }) => item);
      const refused = await writeAccepted(records, (part) => settle(part, lockTimeoutMs));
      // A result whose own data Postgres refuses loses its contents.
      const emptied = { args: "", result: "", error: "the result could not be stored" };
      for (const { item } of refused) await settle([{ ...item, ...emptied }], lockTimeoutMs);
      for (const { resolve } of waiting) resolve();
    },
    sizeOf: ({ item: { args, result, error } }) => args.length + result.length + error.length,
    maxItems: MAX_RECORDS,
    maxBytes: MAX_BYTES,
    maxInFlight: 1,
  });
  return {
    async store(record, stop) {
      let triesLeft = MAX_TRIES_WHILE_STOPPING;
      while (triesLeft > 0) {
        try {
          return await results.add(record);
        } catch (error) {
          onError(error);
        }
        if (stop.aborted) triesLeft -= 1;
        await pause(WAIT_MS, NEVER);
      }
    },
    [Symbol.asyncDispose]: () => results[Symbol.asyncDispose](),
  };
}
