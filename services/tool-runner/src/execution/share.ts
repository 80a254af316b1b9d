import type { ShareLimits } from "@toolgate/workspace-share/turn";
import { createWorkspaceShares, type WorkspaceShares } from "@toolgate/workspace-share/workspace-shares";
import type { HostFunctionName } from "../domain/host-functions.ts";

const MIB = 1024 * 1024;
const LIMITS: Omit<ShareLimits, "bytesPerSecond"> = {
  burstBytes: MIB,
  freeBytes: 16 * 1024,
  unknownBytes: 128 * 1024,
  // As many as the sandbox accepts, and some host calls of each.
  maxWaiting: 40_000,
  // Longer than any run may take.
  maxWaitMs: 60_000,
};

/** What a byte counts: how long this process and the servers behind it are busy with it, in relation to the others. */
export const WEIGHTS = {
  /** Read, checked and passed to the sandbox. */
  argument: 2,
  result: 2,
  /** Of a host call: its arguments and its result. */
  hostCall: 1,
  /** Of a prepared query that is loaded: split into tokens, which takes as long as to read 8 times as much JSON. */
  loadedSql: 8,
  /** In the outbox, in the broker, in the event's row, and in the message for a worker. */
  event: 6,
  /** In the broker and in the log. */
  record: 5,
  /** Sealed, and in the database. */
  storedResult: 2,
  /** Each cell is a row in the database. */
  sheet: 8,
} as const;

/** What is charged in advance for a host call whose result may be large, so that not all of them read theirs at once. */
export const EXPECTED_RESULT_BYTES: Readonly<Partial<Record<HostFunctionName, number>>> = {
  executePreparedQuery: 256 * 1024,
  executeQuery: 256 * 1024,
  readSheet: 256 * 1024,
  fetch: 64 * 1024,
};

/** What a query or a read of a sheet counts whose result was refused as too large: by then the database or this process has had the work. */
export const TOO_LARGE_BYTES = 4 * MIB;

/** What each workspace's runs use of this process. */
export function createRunShares(bytesPerSecond: number): WorkspaceShares {
  return createWorkspaceShares({ ...LIMITS, bytesPerSecond });
}
