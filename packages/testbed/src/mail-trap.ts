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
  /** How many it has refused. */
  readonly refusals: number;
  /** Refuses mails while true. */
  refuse(refusing: boolean): void;
}

export async function startMailTrap(): Promise<MailTrap> {
  const mails: TrappedMail[] = [];
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
    get refusals() {
      return refusals;
    },
    refuse(next) {
      refusing = next;
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
