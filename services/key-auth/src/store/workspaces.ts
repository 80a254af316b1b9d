import type { Queryable } from "@toolgate/postgres/pool";

interface WorkspaceRow {
  id: string;
  code: string;
  locked: boolean;
}

const COLUMNS = "id, code, locked";

export async function findWorkspaceById(db: Queryable, id: string): Promise<WorkspaceRow | undefined> {
  const found = await db.query(`select ${COLUMNS} from key_auth.workspaces where id = $1`, [id]);
  return found.rows[0];
}

/** Those of these workspaces that exist and are not locked; ids as they were given. */
export async function listUnlocked(db: Queryable, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query({
    name: "list_unlocked",
    text: `select given.id from unnest($1::text[]) as given (id)
           join key_auth.workspaces w on w.id = given.id::uuid where not w.locked`,
    values: [ids],
  });
  return new Set(rows.map(({ id }) => id));
}

/** The row stays locked until the transaction ends. */
export async function lockWorkspaceRow(db: Queryable, code: string): Promise<WorkspaceRow | undefined> {
  const found = await db.query(`select ${COLUMNS} from key_auth.workspaces where code = $1 for no key update`, [code]);
  return found.rows[0];
}

/** Changes of who belongs to the workspace wait for each other until their transactions end. */
export async function lockMembers(db: Queryable, workspaceId: string): Promise<void> {
  await db.query("select from key_auth.workspaces where id = $1 for no key update", [workspaceId]);
}

export async function listWorkspaces(db: Queryable): Promise<WorkspaceRow[]> {
  const listed = await db.query(`select ${COLUMNS} from key_auth.workspaces order by code`);
  return listed.rows;
}

/** Returns undefined if a workspace with this code exists. */
export async function insertWorkspace(db: Queryable, id: string, code: string): Promise<WorkspaceRow | undefined> {
  const inserted = await db.query(
    `insert into key_auth.workspaces (id, code) values ($1, $2) on conflict (code) do nothing returning ${COLUMNS}`,
    [id, code],
  );
  return inserted.rows[0];
}

/** [ERR-12] No call of a locked workspace runs. */
export async function setLocked(db: Queryable, id: string, locked: boolean): Promise<void> {
  await db.query("update key_auth.workspaces set locked = $2 where id = $1", [id, locked]);
}
