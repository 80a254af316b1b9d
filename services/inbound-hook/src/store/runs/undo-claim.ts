import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import type { Pool } from "@toolgate/postgres/pool";
import type { ClaimIdentity } from "./claim.ts";
import type { SettleRuns } from "./settle.ts";

/**
 * Returns a claim's deliveries to the queue, as if there had been no claim. None of their targets may have been
 * started. Resolves with how many. A claim that is not committed yet, or never will be, has none.
 */
export type UndoClaim = (claim: ClaimIdentity, now: Date) => Promise<number>;

export function createUndoClaim(pool: Pool, queue: FairQueue, settle: SettleRuns): UndoClaim {
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
    if (claimed.length === 0) return 0;
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
    await settle(
      claimed.map((row) => ({ ...row, ...notRun })),
      now,
    );
    return claimed.length;
  };
}
