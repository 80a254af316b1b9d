import { inTransaction } from "@toolgate/postgres/pool";
import type { MemberRole } from "@toolgate/service-host/principal";
import { changeRole } from "../members/change-role.ts";
import { findUserByEmail } from "../store/users.ts";
import { lockWorkspaceRow } from "../store/workspaces.ts";
import { OPERATOR, type OperatorContext, OperatorError } from "./operator.ts";

interface RoleOfUser {
  email: string;
  /** The workspace's code. */
  workspace: string;
  /** Undefined removes the role. */
  role: MemberRole | undefined;
}

export function setRole({ pool, now }: OperatorContext, { email, workspace, role }: RoleOfUser): Promise<string> {
  return inTransaction(pool, async (client) => {
    const row = await lockWorkspaceRow(client, workspace);
    if (!row) throw new OperatorError(`there is no workspace ${workspace}`);
    const user = await findUserByEmail(client, email);
    if (!user) throw new OperatorError(`there is no user ${email}`);
    const change = { workspaceId: row.id, user, role, actor: OPERATOR, at: now() };
    const outcome = await changeRole(client, change);
    if (outcome === "no member") throw new OperatorError(`${user.email} has no role in ${workspace}`);
    if (outcome === "last admin") {
      throw new OperatorError(`${user.email} is the last admin of ${workspace}: make another user admin first`);
    }
    return role ? `${user.email} is now ${role} of ${workspace}` : `${user.email} no longer has a role in ${workspace}`;
  });
}
