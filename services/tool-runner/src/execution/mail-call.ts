import type { SendMail } from "../clients/mailer.ts";
import { type Mail, readMail } from "../domain/mail.ts";
import type { HostCallEntry } from "./host-call-log.ts";
import { type RunScope, ToolError } from "./run-scope.ts";
import { withheld } from "./withheld.ts";

/** [RO-8] A read-only run sends mails all the same; test mode and a dry run do not. */
export async function mailForTool(
  sendMail: SendMail | undefined,
  [value]: unknown[],
  { tool, scope, entry }: { tool: string; scope: RunScope; entry: HostCallEntry },
): Promise<{ success: true }> {
  const mail = mailOf(value);
  entry.target = `${mail.to.length} recipients`;
  if (scope.mailsLeft <= 0) throw new ToolError("TOO_MANY_MAILS", "this call has sent all the mails that it may");
  scope.mailsLeft -= 1;
  if (withheld(scope, { tool, name: "sendMail", detail: mail })) {
    entry.recorded = scope.dryRun !== undefined;
    return { success: true };
  }
  if (!sendMail) throw new ToolError("NO_MAIL_SERVER", "this installation sends no mails");
  await sendMail(mail).catch((error: Error) => {
    throw new ToolError("MAIL_FAILED", "the mail server did not take the mail", error.message);
  });
  return { success: true };
}

function mailOf(value: unknown): Mail {
  try {
    return readMail(value);
  } catch (error) {
    if (error instanceof RangeError) throw new ToolError("INVALID_ARGUMENT", error.message);
    throw error;
  }
}
