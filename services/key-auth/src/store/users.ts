import type { Queryable } from "@toolgate/postgres/pool";

export interface UserRow {
  id: string;
  email: string;
  passwordHash: string;
}

export async function findUserByEmail(db: Queryable, email: string): Promise<UserRow | undefined> {
  const found = await db.query(
    `select id, email, password_hash as "passwordHash" from key_auth.users where email = lower($1)`,
    [email],
  );
  return found.rows[0];
}

/** Creates the workspace if it is missing. Returns its id. */
export async function ensureWorkspace(db: Queryable, id: string, code: string): Promise<string> {
  await db.query("insert into key_auth.workspaces (id, code) values ($1, $2) on conflict (code) do nothing", [
    id,
    code,
  ]);
  const found = await db.query("select id from key_auth.workspaces where code = $1", [code]);
  return found.rows[0].id;
}

/** Creates the user, or replaces the password of the user with this email address. Returns the user's id. */
export async function saveUser(db: Queryable, user: UserRow): Promise<string> {
  const saved = await db.query(
    `insert into key_auth.users (id, email, password_hash) values ($1, lower($2), $3)
     on conflict (email) do update set password_hash = excluded.password_hash
     returning id`,
    [user.id, user.email, user.passwordHash],
  );
  return saved.rows[0].id;
}

/** Replaces the password unless it has been changed since the user was read. Returns whether it did. */
export async function replacePasswordHash(db: Queryable, user: UserRow, passwordHash: string): Promise<boolean> {
  const replaced = await db.query("update key_auth.users set password_hash = $3 where id = $1 and password_hash = $2", [
    user.id,
    user.passwordHash,
    passwordHash,
  ]);
  return replaced.rowCount === 1;
}

/** The row stays locked until the transaction ends, so that no session starts meanwhile. */
export function lockUser(db: Queryable, id: string): Promise<void> {
  return lockUsers(db, [id]);
}

export async function lockUsers(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.query("select from key_auth.users where id = any($1) order by id for no key update", [ids]);
}

export async function setPasswordHash(db: Queryable, userId: string, passwordHash: string): Promise<void> {
  await db.query("update key_auth.users set password_hash = $2 where id = $1", [userId, passwordHash]);
}

/** Returns false if a user with this email address exists. */
export async function insertUser(db: Queryable, user: UserRow): Promise<boolean> {
  const inserted = await db.query(
    `insert into key_auth.users (id, email, password_hash) values ($1, lower($2), $3) on conflict (email) do nothing`,
    [user.id, user.email, user.passwordHash],
  );
  return inserted.rowCount === 1;
}
