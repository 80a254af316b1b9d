import { randomUUID } from "node:crypto";
import { inTransaction } from "@toolgate/postgres/pool";
import { isEmail } from "../domain/email.ts";
import { hashPassword, passwordFault } from "../domain/password.ts";
import { setPassword } from "../members/set-password.ts";
import { findUserByEmail, insertUser } from "../store/users.ts";
import { OPERATOR, type OperatorContext, OperatorError } from "./operator.ts";

export async function createUser({ pool, readPassword }: OperatorContext, email: string): Promise<string> {
  if (!isEmail(email)) throw new OperatorError(`not an email address: ${JSON.stringify(email)}`);
  const passwordHash = await newPasswordHash(readPassword);
  const created = await insertUser(pool, { id: randomUUID(), email, passwordHash });
  if (!created) throw new OperatorError(`user ${email} already exists`);
  return `user ${email} created; give the user a role with: role set ${email} <workspace> <role>`;
}

export async function resetPassword({ pool, readPassword, now }: OperatorContext, email: string): Promise<string> {
  const user = await findUserByEmail(pool, email);
  if (!user) throw new OperatorError(`there is no user ${email}`);
  const passwordHash = await newPasswordHash(readPassword);
  await inTransaction(pool, (client) => setPassword(client, { user, passwordHash, actor: OPERATOR, at: now() }));
  return `password of ${user.email} set; all sessions of the user ended`;
}

async function newPasswordHash(readPassword: () => Promise<string>): Promise<string> {
  const password = await readPassword();
  const fault = passwordFault(password);
  if (fault) throw new OperatorError(`the password must have ${fault}`);
  return hashPassword(password);
}
