import type { Queryable } from "@toolgate/postgres/pool";
import type { MemberRole } from "@toolgate/service-host/principal";

interface NewSession {
  id: string;
  /** The user, with the password hash that was verified. */
  user: { id: string; passwordHash: string };
  /** Null for a JWT, which contains the session's id. */
  tokenHash: Buffer | null;
  expiresAt: Date;
}

/** Waits for a running change of the password. Returns false if the password has changed since it was verified. */
export async function insertSession(db: Queryable, session: NewSession): Promise<boolean> {
  const inserted = await db.query(
    `insert into key_auth.sessions (id, token_hash, user_id, expires_at)
     select $1, $2, id, $5 from key_auth.users where id = $3 and password_hash = $4
     for share`,
    [session.id, session.tokenHash, session.user.id, session.user.passwordHash, session.expiresAt],
  );
  return inserted.rowCount === 1;
}

/** How a token refers to its session: an opaque token by its hash, a JWT by the session's id. */
export type SessionReference = { tokenHash: Buffer } | { id: string };

const columnOf = (reference: SessionReference) =>
  "id" in reference
    ? ({ column: "id", value: reference.id } as const)
    : ({ column: "token_hash", value: reference.tokenHash } as const);

export async function deleteSession(db: Queryable, reference: SessionReference): Promise<void> {
  const { column, value } = columnOf(reference);
  await db.query(`delete from key_auth.sessions where ${column} = $1`, [value]);
}

export async function deleteSessionsOfUser(db: Queryable, userId: string, except: string | null): Promise<void> {
  await db.query("delete from key_auth.sessions where user_id = $1 and id is distinct from $2", [userId, except]);
}

export async function deleteExpiredSessions(db: Queryable, now: Date): Promise<void> {
  await db.query("delete from key_auth.sessions where expires_at <= $1", [now]);
}

export interface SessionRow {
  id: string;
  userId: string;
  email: string;
  expiresAt: Date;
  /** Null if the user does not belong to the workspace, or it does not exist. */
  workspaceId: string | null;
  role: MemberRole | null;
  /** Of the workspace; null without one. */
  locked: boolean | null;
}

/** The session with the user's role in one workspace. Undefined if there is none or it has expired. */
export async function findSession(
  db: Queryable,
  reference: SessionReference,
  workspace: string,
  now: Date,
): Promise<SessionRow | undefined> {
  const { column, value } = columnOf(reference);
  // Prepared, because planning takes longer than running it.
  const found = await db.query({
    name: `find_session_by_${column}`,
    text: `select s.id, u.id as "userId", u.email, s.expires_at as "expiresAt", m.workspace_id as "workspaceId", m.role, w.locked
     from key_auth.sessions s
     join key_auth.users u on u.id = s.user_id
     left join key_auth.workspaces w on w.code = $2
     left join key_auth.memberships m on m.user_id = u.id and m.workspace_id = w.id
     where s.${column} = $1 and s.expires_at > $3`,
    values: [value, workspace, now],
  });
  return found.rows[0];
}
