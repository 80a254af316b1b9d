import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

interface TrappedEmail {
  recipients: string[];
  /** Headers and body as received. */
  text: string;
}

/** A real SMTP server that stores the emails it gets, and refuses recipients named nobody. */
export interface MailTrap extends AsyncDisposable {
  url: string;
  emails: TrappedEmail[];
  /** Emails refused so far. */
  readonly refusals: number;
  /** Refuses all emails while true. */
  refuse(refusing: boolean): void;
}

export async function startMailTrap(): Promise<MailTrap> {
  const emails: TrappedEmail[] = [];
  let refusing = false;
  let refusals = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onRcptTo: ({ address }, _, done) => done(address.startsWith("nobody@") ? new Error("no such mailbox") : null),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        if (refusing) {
          refusals += 1;
          return done(new Error("refused"));
        }
        const recipients = session.envelope.rcptTo.map((recipient) => recipient.address);
        emails.push({ recipients, text: Buffer.concat(chunks).toString() });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    emails,
    get refusals() {
      return refusals;
    },
    refuse(next) {
      refusing = next;
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
