import { Code, ConnectError } from "@connectrpc/connect";
import { Role } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { MemberRole } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { findSession, type SessionRow } from "../../store/sessions.ts";
import { listMemberships } from "../../store/users.ts";

export const ROLE: Record<MemberRole, Role> = { member: Role.MEMBER, manager: Role.MANAGER, admin: Role.ADMIN };

/**
 * The session of either kind of token. Read from Postgres every time, so that a logout takes effect from the next call
 * on. The token is verified meanwhile.
 */
export async function sessionOf({ tokens, pool, now }: Context, token: string, workspace = ""): Promise<SessionRow> {
  const claimed = tokens.claimedSessionOf(token);
  const [reference, session] = await Promise.all([
    tokens.sessionOf(token),
    claimed && findSession(pool, claimed, workspace, now()),
  ]);
  if (!reference || !session) throw new ConnectError("login required", Code.Unauthenticated);
  return session;
}

export async function membershipMessages({ pool }: Context, userId: string) {
  const memberships = await listMemberships(pool, userId);
  return memberships.map(({ workspace, role }) => ({ workspace, role: ROLE[role] }));
}
