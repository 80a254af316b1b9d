import { randomUUID } from "node:crypto";
import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import type { MemberRole } from "@toolgate/service-host/principal";
import { hashPassword } from "../domain/password.ts";
import { sealingContext } from "../login/signing-keys.ts";
import { listSigningKeys } from "../store/signing-keys.ts";
import { ensureWorkspace, findUserByEmail, insertUser, saveMembership, saveUser } from "../store/users.ts";

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
  account: { workspace: string; email: string; password: string; role: MemberRole },
): Promise<Provisioned> {
  const passwordHash = await hashPassword(account.password);
  return inTransaction(pool, async (client) => {
    const workspaceId = await ensureWorkspace(client, randomUUID(), account.workspace);
    const userId = await saveUser(client, { id: randomUUID(), email: account.email, passwordHash });
    await saveMembership(client, userId, workspaceId, account.role);
    return { workspaceId, userId };
  });
}

/** As `provision`, but leaves a user that exists as it is, with its password and roles. False: there is one. */
export async function provisionNew(
  pool: Pool,
  account: { workspace: string; email: string; password: string; role: MemberRole },
): Promise<boolean> {
  const user = { id: randomUUID(), email: account.email, passwordHash: await hashPassword(account.password) };
  return inTransaction(pool, async (client) => {
    if (!(await insertUser(client, user))) return false;
    const workspaceId = await ensureWorkspace(client, randomUUID(), account.workspace);
    await saveMembership(client, user.id, workspaceId, account.role);
    return true;
  });
}

/** True when there is a user of this e-mail address. */
export async function isProvisioned(pool: Pool, email: string): Promise<boolean> {
  return (await findUserByEmail(pool, email)) !== undefined;
}

const UNDEFINED_TABLE = "42P01";

/** False when services have run on this database with sealing keys that `box` has not. Also before any migration. */
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
