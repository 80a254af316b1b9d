import type { Queryable } from "@toolgate/postgres/pool";

/** A hook that has accepted calls before, and whose calls now all fail verification; the workspace's admins are told. */
export interface FailingHook {
  hookId: number;
  name: string;
  workspaceId: string;
  workspace: string;
  refusedInARow: number;
  refusedSince: Date;
  lastReceivedAt: Date;
  /** Identifies this claim. */
  claimedUntil: Date;
}

const CLAIM_MS = 120_000;
const HOOKS_PER_CLAIM = 20;
const MAX_LISTED = 20;
/**
 * All calls of a hook have failed verification: 20 in a row, or at least 3 over an hour or more. One wrong call of a
 * stranger is not enough.
 */
const IS_FAILING = `active and deleted_at is null and refused_since is not null
         and (refused_in_a_row >= 20 or refused_in_a_row >= 3 and last_refused_at >= refused_since + interval '1 hour')`;

/**
 * Claims failing hooks that worked before. Those not settled in time are due again. Admins get one email per series of
 * failures (`refused_since`); an accepted call ends the series.
 */
export async function claimFailingHooks(db: Queryable, now: Date): Promise<FailingHook[]> {
  const { rows } = await db.query(
    `update inbound_hook.hook set notifying_until = $2
     where id in (
       select id from inbound_hook.hook
       where ${IS_FAILING} and refused_since is distinct from notified_since and last_received_at is not null
         and (notifying_until is null or notifying_until <= $1)
       order by refused_since limit $3 for update skip locked)
     returning id as "hookId", name, workspace_id as "workspaceId", workspace, refused_in_a_row as "refusedInARow",
       refused_since as "refusedSince", last_received_at as "lastReceivedAt",
       notifying_until as "claimedUntil"`,
    [now, new Date(now.getTime() + CLAIM_MS), HOOKS_PER_CLAIM],
  );
  return rows;
}

export async function settleFailingHook(
  db: Queryable,
  { hookId, refusedSince, claimedUntil }: FailingHook,
): Promise<void> {
  await db.query(
    `update inbound_hook.hook set notified_since = $3, notifying_until = null
     where id = $1 and notifying_until = $2`,
    [hookId, claimedUntil, refusedSince],
  );
}

/** The failing hooks of a workspace, those that have failed longest first. */
export async function listFailingHooks(
  db: Queryable,
  workspaceId: string,
): Promise<{ id: number; name: string; refusedInARow: number; refusedSince: Date; lastReceivedAt: Date | null }[]> {
  const { rows } = await db.query(
    `select id, name, refused_in_a_row as "refusedInARow", refused_since as "refusedSince",
       last_received_at as "lastReceivedAt"
     from inbound_hook.hook where workspace_id = $1 and ${IS_FAILING}
     order by refused_since limit ${MAX_LISTED}`,
    [workspaceId],
  );
  return rows;
}
