import type { SendMail } from "../clients/mailer.ts";
import type { DueNotice } from "../store/deactivation-notice.ts";

export interface NoticeMailerOptions {
  claimNotices: (now: Date) => Promise<DueNotice[]>;
  settleNotice: (notice: DueNotice) => Promise<void>;
  listAdminEmails: (workspaceId: string) => Promise<string[]>;
  sendMail: SendMail;
  now: () => Date;
  onError: (error: unknown) => void;
}

/** Sends what is due about automatic deactivations: one mail each. A mail that fails is tried again later. [OUT-49] */
export async function mailDueNotices(options: NoticeMailerOptions): Promise<void> {
  const notices = await options.claimNotices(options.now());
  for (const notice of notices) {
    try {
      const to = await options.listAdminEmails(notice.workspaceId);
      if (to.length > 0) await options.sendMail({ to, ...noticeText(notice) });
      await options.settleNotice(notice);
    } catch (error) {
      options.onError(error);
    }
  }
}

/** Names the endpoint by number and host alone: the path of a webhook URL may be a secret. */
function noticeText({ endpointId, workspace, url, deactivatedAt }: DueNotice): { subject: string; text: string } {
  const host = new URL(url).host;
  return {
    subject: `Webhook endpoint ${endpointId} of ${workspace} was deactivated`,
    text: [
      `The webhook endpoint ${endpointId} (${host}) of the workspace ${workspace} was deactivated at`,
      `${deactivatedAt.toISOString()}, because five deliveries in a row failed finally.`,
      "",
      "Outstanding retries were cancelled, and new events are not delivered to it until it is activated again",
      "under Manage, Webhooks. The delivery log there shows what went wrong.",
      "",
    ].join("\n"),
  };
}
