import { inTransaction, type Pool } from "@toolgate/postgres/pool";

/** What one transaction deletes. A turn may have a few megabytes of calls, and an event 32 kB. */
const MESSAGES_PER_BATCH = 20;
const EVENTS_PER_BATCH = 500;

/** The last id of a chat's messages and events that nobody sees any more, as an expression of SQL. */
export function resetUpTo(chat: string): string {
  return `(select coalesce(max(r.up_to), 0) from chat.unfinished_reset r where r.chat = ${chat})`;
}

const LOCK_OLDEST = `select up_to as "upTo" from chat.unfinished_reset
where chat = $1 and up_to = (select min(up_to) from chat.unfinished_reset where chat = $1) for update skip locked`;

/**
 * A turn is locked before its calls, as when old turns are deleted. Lists of ids instead of joins, because the planner does
 * not know how few there are.
 */
const DELETE_BATCH = `with doomed as materialized (
  select event_id, turn from chat.message where chat = $1 and event_id <= $2 order by event_id limit ${MESSAGES_PER_BATCH}
),
turns as materialized (
  select id, file_id from chat.turn where id = any(array(select turn from doomed)) order by id for no key update
),
forgotten as (update chat.turn set message = '' where id = any(array(select id from turns))),
steps_deleted as (delete from chat.step where turn = any(array(select id from turns))),
calls_deleted as (delete from chat.tool_call where turn = any(array(select id from turns))),
files_expired as (update chat.file set expires_at = $3 where id = any(array(select file_id from turns))),
messages_deleted as (delete from chat.message where chat = $1 and event_id <= (select max(event_id) from doomed)),
doomed_events as materialized (
  select id from chat.event where chat = $1 and id <= $2 order by id limit ${EVENTS_PER_BATCH}
)
delete from chat.event where chat = $1 and id <= (select max(id) from doomed_events)`;

const FINISH = `delete from chat.unfinished_reset
where chat = $1 and up_to = $2
  and not exists (select from chat.message where chat = $1 and event_id <= $2)
  and not exists (select from chat.event where chat = $1 and id <= $2)`;

/**
 * Deletes some of what a chat's resets have left: messages with their turns' steps and calls, and events. Files expire with
 * their messages. Locks no queue and no chat. False: nothing is left, or another process is at it.
 */
export function deleteResetBatch(pool: Pool, chat: number, now: Date): Promise<boolean> {
  return inTransaction(pool, async (db) => {
    const [reset] = (await db.query(LOCK_OLDEST, [chat])).rows;
    if (!reset) return false;
    await db.query(DELETE_BATCH, [chat, reset.upTo, now]);
    await db.query(FINISH, [chat, reset.upTo]);
    return true;
  });
}

const NEXT = `select workspace_id as "workspaceId", chat from chat.unfinished_reset
where workspace_id > $1 order by workspace_id, chat limit 1`;

/**
 * Finishes resets until there is nothing to do or the signal fires. Workspaces take turns, so that the long chats of one delay
 * no others. A chat that fails is left for the next time, and the failure is thrown at the end.
 */
export async function finishResets(pool: Pool, now: () => Date, signal: AbortSignal): Promise<void> {
  let after = "";
  let found = false;
  let failure: unknown;
  while (!signal.aborted) {
    const [next] = (await pool.query(NEXT, [after])).rows;
    if (next) {
      after = next.workspaceId;
      const deleted = await deleteResetBatch(pool, next.chat, now()).catch((error: unknown) => {
        failure ??= error;
        return false;
      });
      found ||= deleted;
      continue;
    }
    if (failure) throw failure;
    if (!found) return;
    after = "";
    found = false;
  }
}
