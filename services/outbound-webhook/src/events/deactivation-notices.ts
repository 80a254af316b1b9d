import type { Pool } from "@toolgate/postgres/pool";
import type { AdminNotices } from "@toolgate/service-host/admin-notices";
import { claimNotices, type DueNotice, deleteNotice } from "../store/deactivation-notice.ts";

/** About endpoints that were deactivated automatically. [OUT-49] */
export function deactivationNotices(pool: Pool): AdminNotices<DueNotice> {
  return {
    claim: (now) => claimNotices(pool, now),
    settle: (notice) => deleteNotice(pool, notice),
    emailFor: noticeText,
  };
}

/** Names the endpoint by number and host only: the path of a webhook URL may be a secret. */
function noticeText({ endpointId, workspace, url, deactivatedAt }: DueNotice): { subject: string; text: string } {
  const host = new URL(url).host;
  return {
    subject: `Webhook endpoint ${endpointId} of ${workspace} was deactivated`,
    text: [
      `The webhook endpoint ${endpointId} (${host}) of the workspace ${workspace} was deactivated at`,
      `${deactivatedAt.toISOString()}, because five deliveries in a row failed for good.`,
      "",
      "Outstanding retries were cancelled, and new events are not delivered to it until it is activated again",
      "under Manage, Webhooks. The delivery log there shows what went wrong.",
      "",
    ].join("\n"),
  };
}
