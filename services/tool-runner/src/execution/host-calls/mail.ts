import type { SendMail } from "@toolgate/mailer/mailer";
import { readMail } from "../../domain/mail.ts";
import { ToolError, validated } from "../errors.ts";
import type { HostCallContext } from "./host-call.ts";
import { skipsWrite } from "./skip-write.ts";

/** [RO-8] A read-only run may send email; test mode and a dry run do not. */
export async function sendMailForTool(
  sendMail: SendMail | undefined,
  [value]: unknown[],
  context: HostCallContext,
): Promise<{ success: true }> {
  const { scope, entry } = context;
  const mail = validated(() => readMail(value));
  entry.target = `${mail.to.length} recipients`;
  if (scope.mailsLeft <= 0) throw new ToolError("TOO_MANY_MAILS", "this call has sent as many emails as it may");
  scope.mailsLeft -= 1;
  if (skipsWrite(context, "sendMail", mail)) return { success: true };
  if (!sendMail) throw new ToolError("NO_MAIL_SERVER", "this installation sends no mail");
  await sendMail(mail).catch((error: Error) => {
    throw new ToolError("MAIL_FAILED", "the mail server did not accept the mail", error.message);
  });
  return { success: true };
}
