import { randomUUID } from "node:crypto";
import { type Client, inTransaction } from "@toolgate/postgres/pool";
import type { MemberRole } from "@toolgate/service-host/principal";
import { insertAuditEntry } from "../store/audit.ts";
import { deleteMembership, findRole, findUserByEmail, saveMembership } from "../store/users.ts";
import { lockWorkspaceRow } from "../store/workspaces.ts";
import { OPERATOR } from "./actor.ts";
import type { OperatorDependencies } from "./dependencies.ts";
import { OperatorError } from "./operator-error.ts";

interface Place {
  email: string;
  workspace: string;
}

/** Holds for the next call of the user: roles are looked up at each. */
export async function setRole(
  { pool, now }: OperatorDependencies,
  { role, ...place }: Place & { role: MemberRole },
): Promise<string> {
  return inTransaction(pool, async (client) => {
    const { user, workspace } = await find(client, place);
    const before = await findRole(client, user.id, workspace.id);
    await saveMembership(client, user.id, workspace.id, role);
    await audit(client, { user, workspace, before, after: role, at: now() });
    return `${user.email} is ${role} of ${workspace.code}`;
  });
}

export async function removeRole({ pool, now }: OperatorDependencies, place: Place): Promise<string> {
  return inTransaction(pool, async (client) => {
    const { user, workspace } = await find(client, place);
    const before = await findRole(client, user.id, workspace.id);
    if (!before) throw new OperatorError(`${user.email} has no role in ${workspace.code}`);
    await deleteMembership(client, user.id, workspace.id);
    await audit(client, { user, workspace, before, after: undefined, at: now() });
    return `${user.email} has no role in ${workspace.code} any more`;
  });
}

async function find(client: Client, { email, workspace: code }: Place) {
  const workspace = await lockWorkspaceRow(client, code);
  if (!workspace) throw new OperatorError(`there is no workspace ${code}`);
  const user = await findUserByEmail(client, email);
  if (!user) throw new OperatorError(`there is no user ${email}`);
  return { user, workspace };
}

async function audit(
  client: Client,
  deed: {
    user: { id: string; email: string };
    workspace: { id: string };
    before: MemberRole | undefined;
    after: MemberRole | undefined;
    at: Date;
  },
): Promise<void> {
  const { user, workspace, before, after, at } = deed;
  if (before === after) return;
  await insertAuditEntry(client, {
    id: randomUUID(),
    workspaceId: workspace.id,
    at,
    actor: OPERATOR,
    action: after ? "role.set" : "role.remove",
    targetId: user.id,
    target: user.email,
    changes: [{ field: "role", before, after }],
  });
}
