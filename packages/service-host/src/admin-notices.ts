import { createClient } from "@connectrpc/connect";
import { WorkspaceService } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import { runEvery } from "./every.ts";
import type { Loop } from "./loops.ts";
import { createMailer, type SendMail } from "./mailer.ts";
import type { MailSettings } from "./outgoing.ts";
import type { Peers } from "./rpc/peers.ts";

/** What the admins of workspaces are told by email. */
export interface AdminNotices<Notice extends { workspaceId: string }> {
  /** Claims what is due. What is not settled within a few minutes is due again. */
  claim(now: Date): Promise<Notice[]>;
  /** The email has been sent, or there is nobody to send it to. */
  settle(notice: Notice): Promise<void>;
  emailFor(notice: Notice): { subject: string; text: string };
}

interface NoticeOptions {
  mail: MailSettings;
  peers: Pick<Peers, "transport">;
  now: () => Date;
  onError: (error: unknown) => void;
}

const NOTICES_EVERY_MS = 2_000;

/**
 * Emails the admins of workspaces about what is due, until it is stopped. Needs the peer key-auth, which knows their
 * addresses. An email that fails is sent again later. `resources` owns the connections to the SMTP server.
 */
export function adminNoticeLoop<Notice extends { workspaceId: string }>(
  notices: AdminNotices<Notice>,
  { mail, peers, now, onError }: NoticeOptions,
  resources: AsyncDisposableStack,
): Loop {
  const workspaces = createClient(WorkspaceService, peers.transport("key-auth"));
  const sendMail = resources.use(createMailer(mail));
  const addressesOf = async (workspaceId: string) => (await workspaces.listAdminEmails({ workspaceId })).emails;
  const emailDue = () => emailDueNotices(notices, { addressesOf, sendMail, now, onError });
  return (signal) => runEvery(NOTICES_EVERY_MS, signal, emailDue, onError);
}

async function emailDueNotices<Notice extends { workspaceId: string }>(
  notices: AdminNotices<Notice>,
  options: {
    addressesOf: (workspaceId: string) => Promise<string[]>;
    sendMail: SendMail;
    now: () => Date;
    onError: (error: unknown) => void;
  },
): Promise<void> {
  const { addressesOf, sendMail, now, onError } = options;
  for (const notice of await notices.claim(now())) {
    try {
      const to = await addressesOf(notice.workspaceId);
      if (to.length > 0) await sendMail({ to, hideRecipients: true, ...notices.emailFor(notice) });
      await notices.settle(notice);
    } catch (error) {
      onError(error);
    }
  }
}
