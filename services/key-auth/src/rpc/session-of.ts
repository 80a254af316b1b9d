import { Code, ConnectError } from "@connectrpc/connect";
import type { Context } from "../context.ts";
import { findSession, type SessionRow } from "../store/sessions.ts";

/** The session of a token of either kind, with the role in a workspace. Asked in Postgres each time: a logout is exact. */
export async function sessionOf(context: Context, token: string, workspace: string): Promise<SessionRow> {
  const reference = await context.tokens.sessionOf(token);
  const session = reference && (await findSession(context.pool, reference, workspace, context.now()));
  if (!session) throw new ConnectError("login required", Code.Unauthenticated);
  return session;
}
