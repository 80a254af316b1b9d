import { inTransaction } from "@toolgate/postgres/pool";
import type { MemberRole } from "@toolgate/service-host/principal";
import { insertAuditEntry } from "../store/audit.ts";
import { deleteMembership, findRole, findUserByEmail, saveMembership } from "../store/users.ts";
import { lockWorkspaceRow } from "../store/workspaces.ts";
import { OPERATOR, type OperatorContext, OperatorError } from "./operator.ts";

interface RoleChange {
  email: string;
  /** The workspace's code. */
  workspace: string;
  /** Undefined removes the role. */
  role: MemberRole | undefined;
}

/** Takes effect from the user's next call on: every call reads the role. */
export function changeRole({ pool, now }: OperatorContext, { email, workspace, role }: RoleChange): Promise<string> {
  return inTransaction(pool, async (client) => {
    const row = await lockWorkspaceRow(client, workspace);
    if (!row) throw new OperatorError(`there is no workspace ${workspace}`);
    const user = await findUserByEmail(client, email);
    if (!user) throw new OperatorError(`there is no user ${email}`);
    const before = await findRole(client, user.id, row.id);
    if (role) await saveMembership(client, user.id, row.id, role);
    else if (before) await deleteMembership(client, user.id, row.id);
    else throw new OperatorError(`${user.email} has no role in ${workspace}`);
    if (before !== role) {
      await insertAuditEntry(client, {
        workspaceId: row.id,
        at: now(),
        actor: OPERATOR,
        action: role ? "role.set" : "role.remove",
        targetId: user.id,
        target: user.email,
        changes: [{ field: "role", before, after: role }],
      });
    }
    return role ? `${user.email} is now ${role} of ${workspace}` : `${user.email} no longer has a role in ${workspace}`;
  });
}
