import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

export interface TrappedMail {
  recipients: string[];
  /** Headers and body as received. */
  text: string;
}

/** A real SMTP server that keeps the mails it gets, and refuses recipients named nobody. */
export interface MailTrap extends AsyncDisposable {
  url: string;
  mails: TrappedMail[];
}

export async function startMailTrap(): Promise<MailTrap> {
  const mails: TrappedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onRcptTo: ({ address }, _, done) => done(address.startsWith("nobody@") ? new Error("no such mailbox") : null),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        mails.push({ recipients, text: Buffer.concat(chunks).toString() });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
