import type { SendMail } from "@toolgate/mailer/mailer";
import type { Pool } from "@toolgate/postgres/pool";
import { claimNotices, type DueNotice, deleteNotice } from "../store/deactivation-notice.ts";

interface NoticeOptions {
  pool: Pool;
  listAdminEmails: (workspaceId: string) => Promise<string[]>;
  sendMail: SendMail;
  now: () => Date;
  onError: (error: unknown) => void;
}

/**
 * Emails the admins about endpoints that were deactivated automatically. An email that fails is sent again later.
 * [OUT-49]
 */
export async function sendDueNotices(options: NoticeOptions): Promise<void> {
  const { pool, listAdminEmails, sendMail, now, onError } = options;
  for (const notice of await claimNotices(pool, now())) {
    try {
      const to = await listAdminEmails(notice.workspaceId);
      if (to.length > 0) await sendMail({ to, hideRecipients: true, ...noticeText(notice) });
      await deleteNotice(pool, notice);
    } catch (error) {
      onError(error);
    }
  }
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
