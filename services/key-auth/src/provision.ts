import { randomUUID } from "node:crypto";
import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import { hashPassword } from "./domain/password.ts";
import { ensureWorkspace, type RoleName, saveMembership, saveUser } from "./store/users.ts";

export interface Provisioned {
  workspaceId: string;
  userId: string;
}

/**
 * What an operator does before anybody can log in: makes the workspace and the user where they are missing, sets the
 * user's password, and gives the role.
 */
export async function provision(
  pool: Pool,
  account: { workspace: string; email: string; password: string; role: RoleName },
): Promise<Provisioned> {
  const passwordHash = await hashPassword(account.password);
  return inTransaction(pool, async (client) => {
    const workspaceId = await ensureWorkspace(client, randomUUID(), account.workspace);
    const userId = await saveUser(client, { id: randomUUID(), email: account.email, passwordHash });
    await saveMembership(client, userId, workspaceId, account.role);
    return { workspaceId, userId };
  });
}
