import { isDataError } from "@toolgate/postgres/data-error";
import type { GroupBatches } from "@toolgate/postgres/fair-queue/group-batches";
import { pause } from "@toolgate/service-host/every";
import type { RunRecord } from "../store/runs/settle.ts";

/**
 * Stores a batch. If Postgres refuses its data, stores each record alone; one that it refuses again loses its contents.
 */
export async function storeRuns(
  records: readonly RunRecord[],
  settle: (records: readonly RunRecord[]) => Promise<unknown>,
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

const WAIT_MS = 500;
/**
 * About 10 s after a stop. If a run's result is not stored by then, the run becomes interrupted when its lease expires.
 */
const MAX_TRIES_WHILE_STOPPING = 20;
const NEVER = new AbortController().signal;

interface Options {
  results: Pick<GroupBatches<RunRecord>, "add">;
  stop: AbortSignal;
  onError: (error: unknown) => void;
}

/** Adds a record until it is stored, however long the database is down. */
export async function keepTrying(record: RunRecord, { results, stop, onError }: Options): Promise<void> {
  let triesLeft = MAX_TRIES_WHILE_STOPPING;
  while (triesLeft > 0) {
    try {
      return await results.add(record);
    } catch (error) {
      onError(error);
      if (stop.aborted) triesLeft -= 1;
      await pause(WAIT_MS, NEVER);
    }
  }
}
