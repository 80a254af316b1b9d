import type { Queryable } from "@toolgate/postgres/pool";
import type { MemberRole } from "@toolgate/service-host/principal";

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

export async function listMemberships(
  db: Queryable,
  userId: string,
): Promise<{ workspace: string; role: MemberRole }[]> {
  const listed = await db.query(
    `select w.code as workspace, m.role
     from key_auth.memberships m join key_auth.workspaces w on w.id = m.workspace_id
     where m.user_id = $1 order by w.code`,
    [userId],
  );
  return listed.rows;
}

export async function listAdminEmails(db: Queryable, workspaceId: string): Promise<string[]> {
  const listed = await db.query(
    `select u.email from key_auth.memberships m join key_auth.users u on u.id = m.user_id
     where m.workspace_id = $1 and m.role = 'admin' order by u.email`,
    [workspaceId],
  );
  return listed.rows.map((row) => row.email);
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

export async function saveMembership(
  db: Queryable,
  userId: string,
  workspaceId: string,
  role: MemberRole,
): Promise<void> {
  await db.query(
    `insert into key_auth.memberships (user_id, workspace_id, role) values ($1, $2, $3)
     on conflict (user_id, workspace_id) do update set role = excluded.role`,
    [userId, workspaceId, role],
  );
}

export async function deleteMembership(db: Queryable, userId: string, workspaceId: string): Promise<void> {
  await db.query("delete from key_auth.memberships where user_id = $1 and workspace_id = $2", [userId, workspaceId]);
}

/** Replaces the password unless it has been changed since `from` was read. Returns whether it did. */
export async function replacePasswordHash(
  db: Queryable,
  userId: string,
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  const replaced = await db.query("update key_auth.users set password_hash = $3 where id = $1 and password_hash = $2", [
    userId,
    from,
    to,
  ]);
  return replaced.rowCount === 1;
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

export async function findRole(db: Queryable, userId: string, workspaceId: string): Promise<MemberRole | undefined> {
  const found = await db.query("select role from key_auth.memberships where user_id = $1 and workspace_id = $2", [
    userId,
    workspaceId,
  ]);
  return found.rows[0]?.role;
}
