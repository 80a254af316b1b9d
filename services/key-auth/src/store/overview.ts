import type { Queryable } from "@toolgate/postgres/pool";

const MAX_EXPIRING = 20;
/** The condition of a key that calls may be made with at $2. */
const IS_ACTIVE = "revoked_at is null and (expires_at is null or expires_at > $2)";

/** The calls of all keys of a workspace by hour. A key that was called since then has been used since then. */
export async function countCallsByHour(
  db: Queryable,
  workspaceId: string,
  from: Date,
): Promise<{ hour: Date; count: number }[]> {
  const counted = await db.query(
    `select c.start as hour, sum(c.calls)::integer as count
     from key_auth.keys k join key_auth.api_key_request_counts c on c.key_id = k.id
     where k.workspace_id = $1 and k.last_used_at >= $2 and c.width_s = 3600 and c.start >= $2
     group by c.start`,
    [workspaceId, from],
  );
  return counted.rows;
}

/** Active keys that expire before a time, earliest first. */
export async function listExpiring(
  db: Queryable,
  { workspaceId, now, before }: { workspaceId: string; now: Date; before: Date },
): Promise<{ id: string; name: string; expiresAt: Date }[]> {
  const listed = await db.query(
    `select id, name, expires_at as "expiresAt" from key_auth.keys
     where workspace_id = $1 and ${IS_ACTIVE} and expires_at < $3
     order by expires_at, id limit ${MAX_EXPIRING}`,
    [workspaceId, now, before],
  );
  return listed.rows;
}

/** Every tool that an active key lists, and how many of them list it, by name. */
export async function toolsOfActiveKeys(
  db: Queryable,
  workspaceId: string,
  now: Date,
): Promise<{ name: string; keys: number }[]> {
  const listed = await db.query(
    `select tool as name, count(*)::integer as keys
     from key_auth.keys cross join unnest(tools) as tool
     where workspace_id = $1 and ${IS_ACTIVE}
     group by tool order by tool collate "C"`,
    [workspaceId, now],
  );
  return listed.rows;
}

/** What a new workspace has done. */
export async function findFirstSteps(
  db: Queryable,
  workspaceId: string,
): Promise<{ createdAt: Date; hasKey: boolean; hasCall: boolean }> {
  const found = await db.query(
    `select created_at as "createdAt",
       exists (select from key_auth.keys where workspace_id = w.id) as "hasKey",
       exists (select from key_auth.keys where workspace_id = w.id and last_used_at is not null) as "hasCall"
     from key_auth.workspaces w where id = $1`,
    [workspaceId],
  );
  return found.rows[0];
}
