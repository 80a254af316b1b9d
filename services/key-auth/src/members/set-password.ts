import type { Queryable } from "@toolgate/postgres/pool";
import { type Actor, insertAccountEntries } from "../store/audit.ts";
import { deletePasswordLinksOf } from "../store/password-links.ts";
import { deleteSessionsOfUser } from "../store/sessions.ts";
import { setPasswordHash } from "../store/users.ts";

interface NewPassword {
  user: { id: string; email: string };
  passwordHash: string;
  actor: Actor;
  at: Date;
}

/** Sets a password without the old one, ends all sessions of the user, and makes their links useless. */
export async function setPassword(client: Queryable, { user, passwordHash, actor, at }: NewPassword): Promise<void> {
  await setPasswordHash(client, user.id, passwordHash);
  await deleteSessionsOfUser(client, user.id, null);
  await deletePasswordLinksOf(client, user.id);
  await insertAccountEntries(client, { user, action: "password.reset", at, actor });
}
