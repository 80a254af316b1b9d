import { createTransport } from "nodemailer";

/** The mail server as smtp://user:password@host:port or smtps://…, and the address that email comes from. */
interface MailerOptions {
  smtpUrl: string;
  from: string;
}

/** `hideRecipients`: the recipients don't see each other. */
export interface Email {
  to: string[];
  subject: string;
  text: string;
  html?: string;
  hideRecipients?: boolean;
}

/** Resolves once the mail server has accepted the email. */
export type SendMail = (email: Email) => Promise<void>;

const TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 4;

/** Sends email over SMTP, on a few connections that stay open until it is disposed. */
export function createMailer({ smtpUrl, from }: MailerOptions): SendMail & Disposable {
  const transport = createTransport({
    url: smtpUrl,
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  });
  const send: SendMail = async ({ to, hideRecipients, ...content }) => {
    const recipients = hideRecipients ? { to: "undisclosed-recipients:;", envelope: { from, to } } : { to };
    // The content may come from tools, so it must not make the mailer read files or URLs.
    await transport.sendMail({ from, ...recipients, ...content, disableFileAccess: true, disableUrlAccess: true });
  };
  return Object.assign(send, { [Symbol.dispose]: () => transport.close() });
}
