import type { Queryable } from "@toolgate/postgres/pool";
import type { MemberRole } from "@toolgate/service-host/principal";

interface NewSession {
  id: string;
  /** The user, with the password hash that was verified. */
  user: { id: string; passwordHash: string };
  /** Null for a JWT, which contains the session's id. */
  tokenHash: Buffer | null;
  /** How the login named it. */
  device: string;
  /** Shortened. */
  address: string;
  startedAt: Date;
  expiresAt: Date;
}

/** Waits for a running change of the password. Returns false if the password has changed since it was verified. */
export async function insertSession(db: Queryable, session: NewSession): Promise<boolean> {
  const inserted = await db.query(
    `insert into key_auth.sessions (id, token_hash, user_id, device, address, created_at, last_used_at, expires_at)
     select $1, $2, id, $5, $6, $7, $7, $8 from key_auth.users where id = $3 and password_hash = $4
     for share`,
    [
      session.id,
      session.tokenHash,
      session.user.id,
      session.user.passwordHash,
      session.device,
      session.address,
      session.startedAt,
      session.expiresAt,
    ],
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

/** Returns how many there were. */
export async function deleteSessionsOfUser(db: Queryable, userId: string, except: string | null): Promise<number> {
  const deleted = await db.query("delete from key_auth.sessions where user_id = $1 and id is distinct from $2", [
    userId,
    except,
  ]);
  return deleted.rowCount ?? 0;
}

/** Returns whether the user has such a session. */
export async function deleteSessionOfUser(db: Queryable, userId: string, id: string | null): Promise<boolean> {
  const deleted = await db.query("delete from key_auth.sessions where user_id = $1 and id = $2", [userId, id]);
  return deleted.rowCount === 1;
}

/** Another call may have noted a later use. */
export async function noteSessionUse(db: Queryable, id: string, at: Date): Promise<void> {
  await db.query("update key_auth.sessions set last_used_at = $2 where id = $1 and last_used_at < $2", [id, at]);
}

export async function deleteExpiredSessions(db: Queryable, now: Date): Promise<void> {
  await db.query("delete from key_auth.sessions where expires_at <= $1", [now]);
}

export interface SessionRow {
  id: string;
  userId: string;
  email: string;
  expiresAt: Date;
  lastUsedAt: Date;
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
    text: `select s.id, u.id as "userId", u.email, s.expires_at as "expiresAt", s.last_used_at as "lastUsedAt",
       m.workspace_id as "workspaceId", m.role, w.locked
     from key_auth.sessions s
     join key_auth.users u on u.id = s.user_id
     left join key_auth.workspaces w on w.code = $2
     left join key_auth.memberships m on m.user_id = u.id and m.workspace_id = w.id
     where s.${column} = $1 and s.expires_at > $3`,
    values: [value, workspace, now],
  });
  return found.rows[0];
}

export interface ListedSession {
  id: string;
  isJwt: boolean;
  device: string;
  address: string;
  startedAt: Date;
  lastUsedAt: Date;
  expiresAt: Date;
}

/** More than anybody looks through. */
const MAX_LISTED = 100;

/** The newest first. */
export async function listSessions(db: Queryable, userId: string, now: Date): Promise<ListedSession[]> {
  const listed = await db.query(
    `select id, token_hash is null as "isJwt", device, address, created_at as "startedAt",
       last_used_at as "lastUsedAt", expires_at as "expiresAt"
     from key_auth.sessions where user_id = $1 and expires_at > $2
     order by created_at desc, id limit ${MAX_LISTED}`,
    [userId, now],
  );
  return listed.rows;
}
