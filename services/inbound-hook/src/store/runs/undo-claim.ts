import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import { inUnlockedGroups } from "@toolgate/postgres/fair-queue/unlocked-groups";
import type { Pool } from "@toolgate/postgres/pool";
import type { ClaimIdentity } from "./claim.ts";
import type { RunRecord, SettleRuns } from "./settle.ts";

/**
 * Returns a claim's deliveries to the queue, as if there had been no claim, except those of locked queues. None of their
 * targets may have been started. Resolves with how many there are, and how many of them were returned. A claim that is not
 * committed yet, or never will be, has none.
 */
export type UndoClaim = (claim: ClaimIdentity, now: Date) => Promise<{ found: number; returned: number }>;

export function createUndoClaim(pool: Pool, queue: FairQueue, { settle }: SettleRuns): UndoClaim {
  const { tables } = queue;
  // Nobody renews the leases, so there is an index for them.
  const text = `select q.item_id as "deliveryId", q.created_at as "createdAt", q.group_id as "workspaceId",
    q.attempt as "nextAttempt", r.number
  from ${tables}_item q
  join inbound_hook.run r on r.created_at = q.created_at and r.delivery_id = q.item_id
  where q.lease_until = $1::timestamptz and r.claim_id = $2::uuid and r.status = 'running'`;
  return async ({ claimId, leaseUntil }, now) => {
    const [found] = await pipelined(pool, [{ name: `${tables}_claimed`, text, values: [leaseUntil, claimId] }]);
    const claimed = found?.rows ?? [];
    if (claimed.length === 0) return { found: 0, returned: 0 };
    const notRun = {
      claimId,
      outcome: "returned",
      againAt: now,
      durationMs: 0,
      args: "",
      result: "",
      error: "",
      executionId: "",
    };
    const records: RunRecord[] = claimed.map((row) => ({ ...row, ...notRun }));
    let returned = 0;
    await inUnlockedGroups([...new Set(records.map((record) => record.workspaceId))], async (some, lockTimeoutMs) => {
      const theirs = records.filter(({ workspaceId }) => some.includes(workspaceId));
      await settle(theirs, now, lockTimeoutMs);
      returned += theirs.length;
    });
    return { found: records.length, returned };
  };
}
