import { randomUUID } from "node:crypto";
import { inTransaction } from "@toolgate/postgres/pool";
import { hasControlCharacters } from "@toolgate/rules/name";
import { hashPassword, passwordFault } from "../domain/password.ts";
import { insertAccountEntries } from "../store/audit.ts";
import { deleteSessionsOfUser } from "../store/sessions.ts";
import { findUserByEmail, insertUser, setPasswordHash } from "../store/users.ts";
import { OPERATOR, type OperatorContext, OperatorError } from "./operator.ts";

const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,255}$/;

export async function createUser({ pool, readPassword }: OperatorContext, email: string): Promise<string> {
  if (!EMAIL.test(email) || hasControlCharacters(email))
    throw new OperatorError(`not an email address: ${JSON.stringify(email)}`);
  const passwordHash = await newPasswordHash(readPassword);
  const created = await insertUser(pool, { id: randomUUID(), email, passwordHash });
  if (!created) throw new OperatorError(`user ${email} already exists`);
  return `user ${email} created; give the user a role with: role set ${email} <workspace> <role>`;
}

export async function setPassword({ pool, readPassword, now }: OperatorContext, email: string): Promise<string> {
  const user = await findUserByEmail(pool, email);
  if (!user) throw new OperatorError(`there is no user ${email}`);
  const passwordHash = await newPasswordHash(readPassword);
  await inTransaction(pool, async (client) => {
    await setPasswordHash(client, user.id, passwordHash);
    await deleteSessionsOfUser(client, user.id, null);
    const account = { userId: user.id, email: user.email };
    await insertAccountEntries(client, { at: now(), actor: OPERATOR, action: "password.reset", ...account });
  });
  return `password of ${user.email} set; all sessions of the user ended`;
}

async function newPasswordHash(readPassword: () => Promise<string>): Promise<string> {
  const password = await readPassword();
  const fault = passwordFault(password);
  if (fault) throw new OperatorError(`the password must have ${fault}`);
  return hashPassword(password);
}
