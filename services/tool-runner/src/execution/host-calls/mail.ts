import { readEmail } from "../../domain/mail.ts";
import { ToolError, validated } from "../errors.ts";
import type { HostCallContext, HostDependencies } from "./host-call.ts";
import { skipsWrite } from "./skip-write.ts";

/** [RO-8] A read-only run may send email; test mode and a dry run do not. */
export async function sendMailForTool({ sendMail }: HostDependencies, [value]: unknown[], context: HostCallContext) {
  const { scope, entry } = context;
  const mail = validated(() => readEmail(value));
  entry.target = `${mail.to.length} recipients`;
  if (scope.emailsLeft <= 0) throw new ToolError("TOO_MANY_MAILS", "this call has sent as many emails as it may");
  scope.emailsLeft -= 1;
  if (skipsWrite(context, "sendMail", mail)) return { success: true };
  if (!sendMail) throw new ToolError("NO_MAIL_SERVER", "this installation sends no email");
  await sendMail(mail).catch((error: Error) => {
    throw new ToolError("MAIL_FAILED", "the mail server did not accept the email", error.message);
  });
  return { success: true };
}
