import { BY_NUMBER, ShareExceeded, type Turn } from "@toolgate/workspace-share/turn";
import { createWorkspaceShares, type WorkspaceShares } from "@toolgate/workspace-share/workspace-shares";
import type { HostFunctionName } from "../../domain/host-functions.ts";
import { ToolError } from "../errors.ts";

/** What host calls occupy while they last, however small they are, and how many calls of one workspace may occupy it. */
const LIMITS = {
  /** A connection of the service's own pool, perhaps while a sheet is locked. */
  database: { maxRunning: 2, maxWaiting: 1_000 },
  /** The same for a moment, if what is looked up is not cached. */
  lookup: { maxRunning: 2, maxWaiting: 1_000 },
  /** A response that is being received, of up to 1 MiB. */
  fetch: { maxRunning: 32, maxWaiting: 1_000 },
  /** One of the 4 connections to the mail server. */
  mail: { maxRunning: 2, maxWaiting: 200 },
} as const;

type Occupied = keyof typeof LIMITS;

/** Tools and queries are looked up in turns of their own, which end before the tool or the query runs. */
export const OCCUPIED_BY: Readonly<Partial<Record<HostFunctionName, Occupied>>> = {
  readSheet: "database",
  writeToSheet: "database",
  clearFromSheet: "database",
  variable: "lookup",
  fetch: "fetch",
  sendMail: "mail",
};

/** Only the number of calls counts here; their bytes count in the workspace's share. No run takes longer than this wait. */
const LIMITS_OF_ALL = { ...BY_NUMBER, maxWaitMs: 60_000 };

/** Keeps the host calls of one workspace from occupying what those of all workspaces need. */
export interface HostCallTurns {
  /** Begins a call, in its turn among those of its workspace. The signal ends the wait. Rejects with a ToolError. */
  begin(occupied: Occupied, workspaceId: string, signal: () => AbortSignal): Promise<Turn>;
}

export function createHostCallTurns(): HostCallTurns {
  const sharesOf: Record<Occupied, WorkspaceShares> = {
    database: createWorkspaceShares({ ...LIMITS_OF_ALL, ...LIMITS.database }),
    lookup: createWorkspaceShares({ ...LIMITS_OF_ALL, ...LIMITS.lookup }),
    fetch: createWorkspaceShares({ ...LIMITS_OF_ALL, ...LIMITS.fetch }),
    mail: createWorkspaceShares({ ...LIMITS_OF_ALL, ...LIMITS.mail }),
  };
  return {
    begin: (occupied, workspaceId, signal) =>
      turnIn(sharesOf[occupied], { workspaceId, bytes: 0, signal }, () => {
        return new ToolError("TOO_MANY_WAITING", "too many calls of the workspace are waiting: try again later");
      }),
  };
}

interface WaitingCall {
  workspaceId: string;
  bytes: number;
  bytesBesideOthers?: number;
  /** Ends the wait. */
  signal: () => AbortSignal;
}

/** A turn in shares. A run that ends meanwhile has not met a platform failure. Rejects with a ToolError. */
export async function turnIn(
  shares: WorkspaceShares,
  { workspaceId, bytes, bytesBesideOthers, signal }: WaitingCall,
  refusal: (error: ShareExceeded) => ToolError,
): Promise<Turn> {
  let waitsUntil: AbortSignal | undefined;
  try {
    const readSignal = () => {
      waitsUntil = signal();
      return waitsUntil;
    };
    return await shares.begin(workspaceId, bytes, readSignal, bytesBesideOthers);
  } catch (error) {
    if (waitsUntil?.aborted) throw endOfWait(waitsUntil);
    throw error instanceof ShareExceeded ? refusal(error) : error;
  }
}

function endOfWait({ reason }: AbortSignal): ToolError {
  const isTimeUp = reason instanceof DOMException && reason.name === "TimeoutError";
  return isTimeUp
    ? new ToolError("TIMEOUT", "the time was used up while the call waited for its turn")
    : new ToolError("CANCELLED", "the run has ended");
}
