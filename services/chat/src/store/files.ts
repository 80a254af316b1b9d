import type { Queryable } from "@toolgate/postgres/pool";

/** How long a file is kept that a message uses; without one it is deleted after an hour. */
export const FILE_RETENTION = "interval '30 days'";
const UNUSED_RETENTION = "interval '1 hour'";

const NO_ID = "00000000-0000-0000-0000-000000000000";

/** Adds a file that is about to be stored. False: the user's files are too large already. */
export async function addFile(
  db: Queryable,
  file: { id: string; userId: string; name: string; now: Date; maxUserBytes: number; assumedBytes: number },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "add_file",
    // A file that is not complete counts as a large one.
    text: `insert into chat.file (id, user_id, name, created_at, expires_at)
select $1, $2, $3, $4, $4::timestamptz + ${UNUSED_RETENTION}
where (
  select coalesce(sum(case when size = 0 then $6 else size end), 0) from chat.file where user_id = $2
) + $6 <= $5`,
    values: [file.id, file.userId, file.name, file.now, file.maxUserBytes, file.assumedBytes],
  });
  return rowCount === 1;
}

/** From now on a message can use the file. */
export async function completeFile(db: Queryable, id: string, size: number, contentType: string): Promise<void> {
  await db.query("update chat.file set size = $2, content_type = $3 where id = $1", [id, size, contentType]);
}

export async function deleteFile(db: Queryable, id: string): Promise<void> {
  await db.query("delete from chat.file where id = $1", [id]);
}

export async function findFile(
  db: Queryable,
  id: string,
): Promise<{ id: string; name: string; contentType: string } | undefined> {
  const { rows } = await db.query('select id, name, content_type as "contentType" from chat.file where id = $1', [id]);
  return rows[0];
}

export interface ExpiredFile {
  id: string;
  /** With the precision of the database. */
  expiresAt: string;
}

/** The files that are to be deleted and come after this one, in the order of their expiry. */
export async function findExpiredFiles(
  db: Queryable,
  { now, after, limit }: { now: Date; after: ExpiredFile | undefined; limit: number },
): Promise<ExpiredFile[]> {
  const { rows } = await db.query(
    `select id, expires_at::text as "expiresAt" from chat.file
where expires_at <= $1 and (expires_at, id) > ($2::timestamptz, $3::uuid) order by expires_at, id limit $4`,
    [now, after?.expiresAt ?? "-infinity", after?.id ?? NO_ID, limit],
  );
  return rows;
}
