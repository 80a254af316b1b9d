import type { Queryable } from "@toolgate/postgres/pool";
import { MAX_WAIT_MS } from "../../domain/turn.ts";

const MAX_REFUSED = 500;

/** [CHAT] Refuses the turns that have waited too long for those before them. */
export async function refuseWaiting(db: Queryable, now: Date): Promise<{ chat: number; id: string }[]> {
  const { rows } = await db.query(
    `update chat.turn t set status = 'refused', ended_at = $1, error_code = 'CHAT_BUSY', message = '', user_event = null
     from (
       select id from chat.turn where status = 'waiting' and created_at < $2
       order by id limit ${MAX_REFUSED} for no key update skip locked
     ) late
     where t.id = late.id
     returning t.chat, t.id`,
    [now, new Date(now.getTime() - MAX_WAIT_MS)],
  );
  return rows;
}
