import { randomUUID } from "node:crypto";
import { inTransaction } from "@toolgate/postgres/pool";
import { hashPassword, passwordFault } from "../domain/password.ts";
import { insertAccountEntries } from "../store/audit.ts";
import { deleteSessionsOfUser } from "../store/sessions.ts";
import { findUserByEmail, insertUser, setPasswordHash } from "../store/users.ts";
import { OPERATOR } from "./actor.ts";
import type { OperatorDependencies } from "./dependencies.ts";
import { OperatorError } from "./operator-error.ts";

const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,255}$/;

export async function createUser({ pool, readPassword }: OperatorDependencies, email: string): Promise<string> {
  if (!EMAIL.test(email)) throw new OperatorError(`not an e-mail address: ${email}`);
  const passwordHash = await newPasswordHash(readPassword);
  const made = await insertUser(pool, { id: randomUUID(), email, passwordHash });
  if (!made) throw new OperatorError(`there is a user ${email} already`);
  return `user ${email} created; give a role with: role set ${email} <workspace> <role>`;
}

/** Ends all sessions of the user. */
export async function setPassword(deps: OperatorDependencies, email: string): Promise<string> {
  const { pool, readPassword, now } = deps;
  const user = await findUserByEmail(pool, email);
  if (!user) throw new OperatorError(`there is no user ${email}`);
  const passwordHash = await newPasswordHash(readPassword);
  await inTransaction(pool, async (client) => {
    await setPasswordHash(client, user.id, passwordHash);
    await deleteSessionsOfUser(client, user.id, null);
    const { id: userId, email: address } = user;
    await insertAccountEntries(client, {
      at: now(),
      actor: OPERATOR,
      action: "password.reset",
      userId,
      email: address,
    });
  });
  return `password of ${user.email} set, sessions ended`;
}

async function newPasswordHash(readPassword: () => Promise<string>): Promise<string> {
  const password = await readPassword();
  const fault = passwordFault(password);
  if (fault) throw new OperatorError(`the password needs ${fault}`);
  return hashPassword(password);
}
