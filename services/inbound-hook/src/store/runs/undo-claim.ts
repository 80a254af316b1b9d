import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import { inUnlockedGroups } from "@toolgate/postgres/fair-queue/unlocked-groups";
import type { LaneStore } from "../queue.ts";
import type { ClaimIdentity } from "./claim.ts";
import { type RunRecord, settleRuns } from "./settle.ts";

/**
 * Claims that failed may have been committed all the same, or may still be. Returns the deliveries of those that were to
 * the queue, as if there had been no claim; none of their targets may have been started. Takes a claim out of the set when
 * it is undone, or when its lease expires: from then on its deliveries count as interrupted. Resolves with how many returned.
 */
export async function undoClaims(store: LaneStore, claims: Set<ClaimIdentity>, now: () => Date): Promise<number> {
  let returned = 0;
  for (const claim of claims) {
    const undone = await undoClaim(store, claim, now());
    returned += undone.returned;
    // A claim is one transaction: what was not found with the rest does not exist.
    const isOver = undone.found > 0 && undone.returned === undone.found;
    if (isOver || now() >= claim.leaseUntil) claims.delete(claim);
  }
  return returned;
}

/** Those of locked queues are found and not returned. */
async function undoClaim(store: LaneStore, { claimId, leaseUntil }: ClaimIdentity, now: Date) {
  const { tables } = store.queue;
  // Nobody renews the leases, so there is an index for them.
  const text = `select q.item_id as "deliveryId", q.created_at as "createdAt", q.group_id as "workspaceId",
    q.attempt as "nextAttempt", r.number
  from ${tables}_item q
  join inbound_hook.run r on r.created_at = q.created_at and r.delivery_id = q.item_id
  where q.lease_until = $1::timestamptz and r.claim_id = $2::uuid and r.status = 'running'`;
  const [found] = await pipelined(store.pool, [{ name: `${tables}_claimed`, text, values: [leaseUntil, claimId] }]);
  const end = { outcome: "returned", againAt: now, durationMs: 0, args: "", result: "", error: "", executionId: "" };
  const records: RunRecord[] = (found?.rows ?? []).map((row) => ({ ...row, ...end, claimId }));
  const workspaceOf = (record: RunRecord) => record.workspaceId;
  const locked = await inUnlockedGroups(records, workspaceOf, (some, lockTimeoutMs) =>
    settleRuns(store, some, now, lockTimeoutMs),
  );
  return { found: records.length, returned: records.length - locked.length };
}
