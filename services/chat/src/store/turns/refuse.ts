import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import { MAX_WAIT_MS } from "../../domain/turn.ts";

const MAX_REFUSED = 500;

const FIND_CHATS = `select distinct chat from (
  select chat from chat.turn where status = 'waiting' and created_at < $1 order by created_at limit ${MAX_REFUSED}
) late`;

/** Whoever ends a turn holds this lock while it chooses the next one. */
const LOCK_CHATS = "select id from chat.chat where id = any($1::bigint[]) order by id for no key update";

const REFUSE = `with late as (
  select id from chat.turn where chat = any($2::bigint[]) and status = 'waiting' and created_at < $3
  order by id for no key update
),
refused as (
  update chat.turn t set status = 'refused', ended_at = $1, error_code = 'CHAT_BUSY', message = '', user_event = null
  from late where t.id = late.id
  returning t.chat, t.id, t.file_id
),
files_expired as (update chat.file f set expires_at = $1 from refused where f.id = refused.file_id)
select c.workspace_id as "workspaceId", c.chat_id as "chatId", refused.id
from refused join chat.chat c on c.id = refused.chat`;

interface RefusedTurn {
  id: string;
  workspaceId: string;
  /** The client's name for the chat. */
  chatId: string;
}

/** [CHAT] Refuses the turns that have waited too long for those before them. */
export async function refuseWaiting(pool: Pool, now: Date): Promise<RefusedTurn[]> {
  const before = new Date(now.getTime() - MAX_WAIT_MS);
  const found = await pool.query(FIND_CHATS, [before]);
  if (found.rows.length === 0) return [];
  const chats = found.rows.map(({ chat }) => chat);
  return inTransaction(pool, async (db) => {
    await db.query(LOCK_CHATS, [chats]);
    const { rows } = await db.query(REFUSE, [now, chats, before]);
    return rows;
  });
}
