import type { Queryable } from "@toolgate/postgres/pool";

/** Adds a file that is about to be stored. False: the user's files are too large already. */
export async function addFile(
  db: Queryable,
  file: { id: string; userId: string; name: string; now: Date; maxUserBytes: number; assumedBytes: number },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "add_file",
    // A file that is not complete counts as a large one.
    text: `insert into chat.file (id, user_id, name, created_at)
select $1, $2, $3, $4
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

export async function deleteFiles(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.query("delete from chat.file where id = any($1::uuid[])", [ids]);
}

export async function findFile(
  db: Queryable,
  id: string,
): Promise<{ id: string; name: string; contentType: string } | undefined> {
  const { rows } = await db.query('select id, name, content_type as "contentType" from chat.file where id = $1', [id]);
  return rows[0];
}

/** Files that no message uses, files of chats that were reset since, and files that are past their retention. */
export async function findExpiredFiles(
  db: Queryable,
  { unusedBefore, before, limit }: { unusedBefore: Date; before: Date; limit: number },
): Promise<string[]> {
  const { rows } = await db.query(
    `select f.id from chat.file f left join chat.turn t on t.id = f.turn
     where f.created_at < $2 or (f.created_at < $1 and (t.id is null or t.message = ''))
     order by f.created_at limit $3`,
    [unusedBefore, before, limit],
  );
  return rows.map(({ id }) => id);
}
