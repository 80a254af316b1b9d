import type { Queryable } from "@toolgate/postgres/pool";
import type { MemberRole } from "@toolgate/service-host/principal";
import type { Actor } from "./audit.ts";

export interface InvitationRow {
  id: string;
  workspaceId: string;
  email: string;
  role: MemberRole;
  createdAt: Date;
  /** Email address of who invites. */
  creator: string;
  expiresAt: Date;
}

const COLUMNS = `i.id, i.workspace_id as "workspaceId", i.email, i.role, i.created_at as "createdAt", i.creator,
  i.expires_at as "expiresAt"`;

/** Replaces the invitation of the same address. */
export async function saveInvitation(
  db: Queryable,
  { actor, tokenHash, ...row }: Omit<InvitationRow, "creator"> & { actor: Actor; tokenHash: Buffer },
): Promise<InvitationRow> {
  const saved = await db.query(
    `insert into key_auth.invitations as i
       (id, workspace_id, email, role, token_hash, created_at, creator_id, creator, expires_at)
     values ($1, $2, lower($3), $4, $5, $6, $7, $8, $9)
     on conflict (workspace_id, email) do update
       set (id, role, token_hash, created_at, creator_id, creator, expires_at) =
         (excluded.id, excluded.role, excluded.token_hash, excluded.created_at, excluded.creator_id, excluded.creator,
          excluded.expires_at)
     returning ${COLUMNS}`,
    [row.id, row.workspaceId, row.email, row.role, tokenHash, row.createdAt, actor.id, actor.name, row.expiresAt],
  );
  return saved.rows[0];
}

export async function listInvitations(db: Queryable, workspaceId: string, now: Date): Promise<InvitationRow[]> {
  const listed = await db.query(
    `select ${COLUMNS} from key_auth.invitations i where workspace_id = $1 and expires_at > $2 order by email`,
    [workspaceId, now],
  );
  return listed.rows;
}

/** An invitation with the workspace's code, and the account of its address. */
export interface OpenInvitation extends InvitationRow {
  workspace: string;
  /** Null if there is none. */
  userId: string | null;
  /** The account belongs to a workspace, so it is somebody's. */
  hasPassword: boolean;
}

/** Undefined when the invitation was accepted, replaced or withdrawn, or has expired. */
export async function findInvitation(db: Queryable, tokenHash: Buffer, now: Date): Promise<OpenInvitation | undefined> {
  const found = await db.query(
    `select ${COLUMNS}, w.code as workspace, u.id as "userId",
       exists (select from key_auth.memberships m where m.user_id = u.id) as "hasPassword"
     from key_auth.invitations i
     join key_auth.workspaces w on w.id = i.workspace_id
     left join key_auth.users u on u.email = i.email
     where i.token_hash = $1 and i.expires_at > $2`,
    [tokenHash, now],
  );
  return found.rows[0];
}

/** Returns the address that was invited, or undefined if there is no such invitation. */
export async function deleteInvitation(
  db: Queryable,
  workspaceId: string,
  id: string | null,
): Promise<string | undefined> {
  const deleted = await db.query(
    "delete from key_auth.invitations where workspace_id = $1 and id = $2 returning email",
    [workspaceId, id],
  );
  return deleted.rows[0]?.email;
}

/** Those that invite this user, and those that the user has made. */
export async function deleteInvitationsOf(
  db: Queryable,
  workspaceId: string,
  user: { id: string; email: string },
): Promise<void> {
  await db.query("delete from key_auth.invitations where workspace_id = $1 and (email = $2 or creator_id = $3)", [
    workspaceId,
    user.email,
    user.id,
  ]);
}

export async function deleteExpiredInvitations(db: Queryable, now: Date): Promise<void> {
  await db.query("delete from key_auth.invitations where expires_at <= $1", [now]);
}
