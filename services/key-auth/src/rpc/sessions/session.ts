import { Code, ConnectError } from "@connectrpc/connect";
import { Role } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import { MEMBER_ROLES, type MemberRole } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { insertAccountEntries } from "../../store/audit.ts";
import { listMemberships } from "../../store/memberships.ts";
import { findSession, noteSessionUse, type SessionRow } from "../../store/sessions.ts";

export const ROLE: Record<MemberRole, Role> = { member: Role.MEMBER, manager: Role.MANAGER, admin: Role.ADMIN };

/** Undefined for no role, or one that this version does not know. */
export function memberRoleOf(role: Role): MemberRole | undefined {
  return MEMBER_ROLES.find((name) => ROLE[name] === role);
}

/** More often than that, the last use is not noted. */
const USE_NOTED_EVERY_MS = 5 * 60_000;

/** The session of either kind of token. Read from Postgres every time, so that a logout takes effect from the next call on. */
export async function sessionOf(
  { tokens, pool, now, afterwards }: Context,
  token: string,
  workspace = "",
): Promise<SessionRow> {
  const at = now();
  const reference = await tokens.sessionOf(token);
  const session = reference && (await findSession(pool, reference, workspace, at));
  if (!session) throw new ConnectError("login required", Code.Unauthenticated);
  if (at.getTime() - session.lastUsedAt.getTime() > USE_NOTED_EVERY_MS) {
    afterwards(noteSessionUse(pool, session.id, at));
  }
  return session;
}

export async function membershipMessages({ pool }: Context, userId: string) {
  const memberships = await listMemberships(pool, userId);
  return memberships.map(({ workspace, role }) => ({ workspace, role: ROLE[role] }));
}

/** The user has ended sessions of their own. */
export function auditEnd(db: Queryable, { userId, email }: SessionRow, at: Date): Promise<void> {
  return insertAccountEntries(db, { user: { id: userId, email }, action: "session.end", at });
}
