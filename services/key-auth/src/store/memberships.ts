import type { Queryable } from "@toolgate/postgres/pool";
import type { MemberRole } from "@toolgate/service-host/principal";

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

export async function findRole(db: Queryable, userId: string, workspaceId: string): Promise<MemberRole | undefined> {
  const found = await db.query("select role from key_auth.memberships where user_id = $1 and workspace_id = $2", [
    userId,
    workspaceId,
  ]);
  return found.rows[0]?.role;
}

export async function countAdmins(db: Queryable, workspaceId: string): Promise<number> {
  const counted = await db.query(
    "select count(*)::int as admins from key_auth.memberships where workspace_id = $1 and role = 'admin'",
    [workspaceId],
  );
  return counted.rows[0].admins;
}

/** Whether the user belongs to a workspace that the admin is not an admin of. */
export async function belongsElsewhere(db: Queryable, userId: string, adminId: string): Promise<boolean> {
  const found = await db.query(
    `select from key_auth.memberships m
     where m.user_id = $1 and not exists (
       select from key_auth.memberships a
       where a.workspace_id = m.workspace_id and a.user_id = $2 and a.role = 'admin')
     limit 1`,
    [userId, adminId],
  );
  return found.rows.length > 0;
}

/** Undefined for an id that is no member's. */
export async function findMember(
  db: Queryable,
  workspaceId: string,
  userId: string | null,
): Promise<{ id: string; email: string } | undefined> {
  const found = await db.query(
    `select u.id, u.email
     from key_auth.memberships m join key_auth.users u on u.id = m.user_id
     where m.workspace_id = $1 and m.user_id = $2`,
    [workspaceId, userId],
  );
  return found.rows[0];
}

interface ListedMember {
  userId: string;
  email: string;
  role: MemberRole;
  sessions: number;
  lastUsedAt: Date | null;
}

/** By email address, after the member with this id. */
export async function listMembers(
  db: Queryable,
  page: { workspaceId: string; search: string; limit: number; after: string | null; now: Date },
): Promise<ListedMember[]> {
  const listed = await db.query(
    `select u.id as "userId", u.email, m.role, s.sessions, s.last_used_at as "lastUsedAt"
     from key_auth.memberships m
     join key_auth.users u on u.id = m.user_id
     cross join lateral (
       select count(*)::int as sessions, max(last_used_at) as last_used_at
       from key_auth.sessions where user_id = u.id and expires_at > $5) s
     where m.workspace_id = $1 and position(lower($2) in u.email) > 0
       and ($4::uuid is null or u.email > (select email from key_auth.users where id = $4))
     order by u.email
     limit $3`,
    [page.workspaceId, page.search, page.limit, page.after, page.now],
  );
  return listed.rows;
}
