import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { inTransaction, type Queryable } from "@toolgate/postgres/pool";
import { type MemberRole, type Principal, principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { changeRole } from "../../members/change-role.ts";
import type { Actor } from "../../store/audit.ts";
import { findMember, findRole, type MemberRow } from "../../store/memberships.ts";
import { uuidOrNull } from "../../store/uuid.ts";
import { lockMembers } from "../../store/workspaces.ts";
import { noSuchMember } from "../errors.ts";

export function actorOf({ userId, email }: Principal): Actor & { id: string } {
  return { id: userId, name: email };
}

/** The member with this id of the caller's workspace. */
export async function memberOf(db: Queryable, { workspaceId }: Principal, userId: string): Promise<MemberRow> {
  const member = await findMember(db, workspaceId, uuidOrNull(userId));
  if (!member) throw noSuchMember();
  return member;
}

/** Nobody's role changes until the transaction ends; the caller, who was an admin when the call began, still is one. */
export async function lockMembersAsAdmin(client: Queryable, { workspaceId, userId }: Principal): Promise<void> {
  await lockMembers(client, workspaceId);
  if ((await findRole(client, userId, workspaceId)) !== "admin") {
    throw new ConnectError("your role does not permit this", Code.PermissionDenied);
  }
}

/** Gives a member another role, or removes them. */
export function changeMember(
  { pool, now }: Context,
  call: HandlerContext,
  userId: string,
  role: MemberRole | undefined,
): Promise<void> {
  const principal = principalOf(call);
  return inTransaction(pool, async (client) => {
    await lockMembersAsAdmin(client, principal);
    const { userId: id, email } = await memberOf(client, principal, userId);
    const { workspaceId } = principal;
    const change = { workspaceId, user: { id, email }, role, actor: actorOf(principal), at: now() };
    const outcome = await changeRole(client, change);
    if (outcome === "no member") throw noSuchMember();
    if (outcome === "last admin") {
      const message = `${email} is the only admin: make another member admin first`;
      throw new ConnectError(message, Code.FailedPrecondition);
    }
  });
}
