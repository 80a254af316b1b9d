import { randomUUID } from "node:crypto";
import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import type { MemberRole } from "@toolgate/service-host/principal";
import { hashPassword } from "../domain/password.ts";
import { sealingContext } from "../login/signing-keys.ts";
import { saveMembership } from "../store/memberships.ts";
import { listSigningKeys } from "../store/signing-keys.ts";
import { ensureWorkspace, findUserByEmail, saveUser } from "../store/users.ts";

interface Account {
  workspace: string;
  email: string;
  password: string;
  role: MemberRole;
}

/** Creates the workspace and the user if they are missing, and sets the user's password and role. */
export async function provision(
  pool: Pool,
  { workspace, email, password, role }: Account,
): Promise<{ workspaceId: string; userId: string }> {
  const passwordHash = await hashPassword(password);
  return inTransaction(pool, async (client) => {
    const workspaceId = await ensureWorkspace(client, randomUUID(), workspace);
    const userId = await saveUser(client, { id: randomUUID(), email, passwordHash });
    await saveMembership(client, userId, workspaceId, role);
    return { workspaceId, userId };
  });
}

/** Whether a user with this email address exists. */
export async function isProvisioned(pool: Pool, email: string): Promise<boolean> {
  return (await findUserByEmail(pool, email)) !== undefined;
}

const UNDEFINED_TABLE = "42P01";

/** False if the database was used with sealing keys that `box` does not have. Works before the first migration, too. */
export async function canOpenInstallation(pool: Pool, box: SecretBox): Promise<boolean> {
  const [newest] = await listSigningKeys(pool).catch((error: { code?: string }) => {
    if (error.code === UNDEFINED_TABLE) return [];
    throw error;
  });
  if (!newest) return true;
  try {
    box.open(newest.sealedPrivateKey, sealingContext(newest.kid));
    return true;
  } catch {
    return false;
  }
}
