import { createNeighbours, type Neighbours } from "./neighbours.ts";
import { ShareAccount } from "./share-account.ts";
import { type Clock, REAL_CLOCK, type ShareLimits, type Turn } from "./turn.ts";

/**
 * What each workspace uses of this process, in bytes of its work (arguments, results, events, log records, answers): time on
 * the event loop and at the servers behind it is roughly proportional to them. Much small work counts by its number. A
 * workspace that has used more than its share waits until time has made up for it, whatever its number of callers; others
 * are not delayed. As the size of work is often known only afterwards, it is charged in advance with what the workspace's
 * work usually uses.
 */
export interface WorkspaceShares {
  /**
   * Begins a piece of work of at least this many bytes: immediately, or in its turn among those of its workspace. Rejects
   * with `ShareExceeded`, or with the reason of `signal`, which is read only when the work has to wait. `bytesBesideOthers`
   * replaces that of the limits.
   */
  begin(
    workspaceId: string,
    bytes?: number,
    signal?: () => AbortSignal,
    bytesBesideOthers?: number,
  ): Turn | Promise<Turn>;
  /** Counts bytes of work that has no turn of its own, and others while other workspaces have work. */
  charge(workspaceId: string, bytes: number, bytesBesideOthers?: number): void;
}

const SWEEP_ABOVE = 1_000;

/** `neighbours` are the others of `bytesBesideOthers`. Default: those with work in these shares. */
export function createWorkspaceShares(
  limits: ShareLimits,
  clock: Clock = REAL_CLOCK,
  neighbours: Neighbours = createNeighbours(clock),
): WorkspaceShares {
  const accounts = new Map<string, ShareAccount>();
  let sweepAbove = SWEEP_ABOVE;

  function accountOf(workspaceId: string): ShareAccount {
    const known = accounts.get(workspaceId);
    if (known) return known;
    if (accounts.size >= sweepAbove) forgetIdle();
    const account = new ShareAccount(limits, clock);
    accounts.set(workspaceId, account);
    return account;
  }

  function forgetIdle(): void {
    for (const [workspaceId, account] of accounts) if (account.isIdle()) accounts.delete(workspaceId);
    sweepAbove = Math.max(SWEEP_ABOVE, accounts.size * 2);
  }

  /** What each piece of work of this workspace counts now. */
  function fixedBytesOf(workspaceId: string, bytesBesideOthers: number): number {
    const isBesideOthers = bytesBesideOthers > 0 && neighbours.has(workspaceId);
    neighbours.note(workspaceId);
    return isBesideOthers ? bytesBesideOthers : 0;
  }

  return {
    begin: (workspaceId, bytes = 0, signal, bytesBesideOthers = limits.bytesBesideOthers ?? 0) =>
      accountOf(workspaceId).begin(bytes, fixedBytesOf(workspaceId, bytesBesideOthers), signal),
    charge: (workspaceId, bytes, bytesBesideOthers = 0) =>
      accountOf(workspaceId).charge(bytes, fixedBytesOf(workspaceId, bytesBesideOthers)),
  };
}
