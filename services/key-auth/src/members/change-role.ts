import type { Queryable } from "@toolgate/postgres/pool";
import type { MemberRole } from "@toolgate/service-host/principal";
import { type Actor, type AuditAction, insertAuditEntry } from "../store/audit.ts";
import { deleteInvitationsOf } from "../store/invitations.ts";
import { countAdmins, deleteMembership, findRole, saveMembership } from "../store/memberships.ts";
import { deletePasswordLinksOf } from "../store/password-links.ts";
import { deleteSessionsOfUser } from "../store/sessions.ts";
import { lockUser } from "../store/users.ts";
import { lockMembers } from "../store/workspaces.ts";

interface RoleChange {
  workspaceId: string;
  user: { id: string; email: string };
  /** Undefined removes the user from the workspace, and ends all their sessions. */
  role: MemberRole | undefined;
  actor: Actor;
  at: Date;
  /** Of the audit entry, when it is neither role.set nor role.remove. */
  action?: AuditAction;
}

/** What became of it: a workspace that has an admin keeps one. */
export type RoleChangeOutcome = "changed" | "unchanged" | "no member" | "last admin";

/**
 * Takes effect from the user's next call on, because every call reads the role. The links that were made for the user or by them
 * stop working. The transaction waits for other changes of roles in the workspace.
 */
export async function changeRole(
  client: Queryable,
  { workspaceId, user, role, actor, at, action = role ? "role.set" : "role.remove" }: RoleChange,
): Promise<RoleChangeOutcome> {
  await lockMembers(client, workspaceId);
  await lockUser(client, user.id);
  const before = await findRole(client, user.id, workspaceId);
  if (before === role) return role ? "unchanged" : "no member";
  if (before === "admin" && (await countAdmins(client, workspaceId)) === 1) return "last admin";
  if (role) await saveMembership(client, user.id, workspaceId, role);
  else {
    await deleteMembership(client, user.id, workspaceId);
    await deleteSessionsOfUser(client, user.id, null);
  }
  await deleteInvitationsOf(client, workspaceId, user);
  await deletePasswordLinksOf(client, user.id);
  const changes = [{ field: "role", before, after: role }];
  await insertAuditEntry(client, { workspaceId, at, actor, action, targetId: user.id, target: user.email, changes });
  return "changed";
}
