import { createTransport } from "nodemailer";

export interface Mail {
  to: string[];
  subject: string;
  text: string;
}

export type SendMail = (mail: Mail) => Promise<void>;

const TIMEOUT_MS = 10_000;

/** Sends mails over SMTP. The recipients don't see each other. */
export function createMailer({ smtpUrl, from }: { smtpUrl: string; from: string }): SendMail & Disposable {
  const transport = createTransport({
    url: smtpUrl,
    pool: true,
    maxConnections: 1,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  });
  const send: SendMail = async ({ to, subject, text }) => {
    await transport.sendMail({ from, to: "undisclosed-recipients:;", envelope: { from, to }, subject, text });
  };
  return Object.assign(send, { [Symbol.dispose]: () => transport.close() });
}
