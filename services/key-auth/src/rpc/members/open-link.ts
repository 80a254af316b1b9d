import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { Context } from "../../context.ts";
import { hashToken } from "../../login/tokens.ts";
import { beginAttempt, countedForLink } from "../sessions/check-password.ts";

export function noSuchLink(): ConnectError {
  return new ConnectError("this link is no longer valid: it was used or withdrawn, or has expired", Code.NotFound);
}

/** What a link stands for. A token that stands for nothing counts as a failed login of the caller's network. */
export async function openLink<Found>(
  context: Context,
  { token, call }: { token: string; call: HandlerContext },
  find: (tokenHash: Buffer) => Promise<Found | undefined>,
): Promise<Found & { tokenHash: Buffer }> {
  const counted = countedForLink(call);
  await beginAttempt(context, counted);
  const tokenHash = hashToken(token);
  const found = await find(tokenHash).catch(async (error: unknown) => {
    await context.throttle.end(counted, false);
    throw error;
  });
  if (!found) throw noSuchLink();
  await context.throttle.end(counted, true);
  return { ...found, tokenHash };
}
