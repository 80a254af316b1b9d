import type { Queryable } from "@toolgate/postgres/pool";

/** An automatic deactivation, about which the workspace's admins get an email. */
export interface DueNotice {
  endpointId: number;
  workspaceId: string;
  workspace: string;
  url: string;
  deactivatedAt: Date;
  /** Identifies this claim. */
  claimedUntil: Date;
}

const CLAIM_MS = 120_000;
const NOTICES_PER_CLAIM = 20;

/** Claims due notices; those that are not deleted in time are due again. */
export async function claimNotices(db: Queryable, now: Date): Promise<DueNotice[]> {
  const { rows } = await db.query(
    `update outbound_webhook.endpoint set notice_due_at = $2
     where id in (
       select id from outbound_webhook.endpoint where notice_due_at <= $1
       order by notice_due_at limit $3 for update skip locked)
     returning id as "endpointId", workspace_id as "workspaceId", workspace, url,
       coalesce(deactivated_at, $1) as "deactivatedAt", notice_due_at as "claimedUntil"`,
    [now, new Date(now.getTime() + CLAIM_MS), NOTICES_PER_CLAIM],
  );
  return rows;
}

/** Deletes a notice that was sent, unless the endpoint has been deactivated again. */
export async function deleteNotice(db: Queryable, notice: DueNotice): Promise<void> {
  await db.query("update outbound_webhook.endpoint set notice_due_at = null where id = $1 and notice_due_at = $2", [
    notice.endpointId,
    notice.claimedUntil,
  ]);
}
