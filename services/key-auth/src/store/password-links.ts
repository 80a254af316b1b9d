import type { Queryable } from "@toolgate/postgres/pool";

/** Replaces the user's earlier link. */
export async function savePasswordLink(
  db: Queryable,
  link: { userId: string; tokenHash: Buffer; creatorId: string; expiresAt: Date },
): Promise<void> {
  await db.query(
    `insert into key_auth.password_links (user_id, token_hash, creator_id, expires_at) values ($1, $2, $3, $4)
     on conflict (user_id) do update
       set (token_hash, creator_id, expires_at) = (excluded.token_hash, excluded.creator_id, excluded.expires_at)`,
    [link.userId, link.tokenHash, link.creatorId, link.expiresAt],
  );
}

/** The user of a link; undefined when it was used or replaced, or has expired. */
export async function findUserOfLink(
  db: Queryable,
  tokenHash: Buffer,
  now: Date,
): Promise<{ id: string; email: string } | undefined> {
  const found = await db.query(
    `select u.id, u.email from key_auth.password_links l join key_auth.users u on u.id = l.user_id
     where l.token_hash = $1 and l.expires_at > $2`,
    [tokenHash, now],
  );
  return found.rows[0];
}

/** Those for this user, and those that the user has made. */
export async function deletePasswordLinksOf(db: Queryable, userId: string): Promise<void> {
  await db.query("delete from key_auth.password_links where user_id = $1 or creator_id = $1", [userId]);
}

/** Returns whether the link was still there. */
export async function deletePasswordLink(db: Queryable, tokenHash: Buffer): Promise<boolean> {
  const deleted = await db.query("delete from key_auth.password_links where token_hash = $1", [tokenHash]);
  return deleted.rowCount === 1;
}

export async function deleteExpiredPasswordLinks(db: Queryable, now: Date): Promise<void> {
  await db.query("delete from key_auth.password_links where expires_at <= $1", [now]);
}
