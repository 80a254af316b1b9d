import { PROCESS_NEIGHBOURS } from "@toolgate/workspace-share/neighbours";
import { REAL_CLOCK, type ShareLimits } from "@toolgate/workspace-share/turn";
import { createWorkspaceShares, type WorkspaceShares } from "@toolgate/workspace-share/workspace-shares";

const KIB = 1024;
const MIB = KIB * KIB;
const LIMITS: Omit<ShareLimits, "bytesPerSecond"> = {
  burstBytes: MIB,
  freeBytes: 16 * KIB,
  unknownBytes: 128 * KIB,
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

/**
 * What work counts on top of its bytes while other workspaces work too, because many small pieces of it keep this
 * process and the servers behind it as busy as large ones.
 */
export const BESIDE_OTHERS = {
  hostCall: 4 * KIB,
  /** A run of another tool, which has a record of its own. */
  nestedRun: 16 * KIB,
  /** Stored, published and fanned out to its endpoints. */
  event: 32 * KIB,
  /** A request to an external address, perhaps over a new connection with TLS. */
  outgoingCall: 60 * KIB,
} as const;

/**
 * What a query or a read of a sheet counts whose result was refused as too large: by then the database or this process
 * has had the work.
 */
export const TOO_LARGE_BYTES = 4 * MIB;

/** What each workspace's runs use of this process. */
export function createRunShares(bytesPerSecond: number): WorkspaceShares {
  return createWorkspaceShares({ ...LIMITS, bytesPerSecond }, REAL_CLOCK, PROCESS_NEIGHBOURS);
}
