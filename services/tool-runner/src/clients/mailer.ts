import { createTransport } from "nodemailer";
import type { Mail } from "../domain/mail.ts";

export interface MailSettings {
  /** smtp://user:password@host:port or smtps://… */
  smtpUrl: string;
  /** Address that tools' mails come from. */
  from: string;
}

/** Resolves once the mail server has accepted the mail. */
export type SendMail = (mail: Mail) => Promise<void>;

const TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 4;

export function createMailer({ smtpUrl, from }: MailSettings): SendMail & Disposable {
  const transport = createTransport({
    url: smtpUrl,
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  });
  const send: SendMail = async (mail) => {
    // The text comes from tools, so it must not make the mailer read files or URLs.
    await transport.sendMail({ from, ...mail, disableFileAccess: true, disableUrlAccess: true });
  };
  return Object.assign(send, { [Symbol.dispose]: () => transport.close() });
}
