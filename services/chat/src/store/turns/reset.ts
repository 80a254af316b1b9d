import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { lockGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import { settleParts } from "@toolgate/postgres/fair-queue/settle";
import type { Pool } from "@toolgate/postgres/pool";

export interface ResetRequest {
  workspaceId: string;
  chatId: string;
  owner: string;
  /** The end of the running turn, as stored. */
  doneEvent: Uint8Array;
}

/** `unknown`: there is no such chat. `endedTurns` are those that ran or waited; the one that ran has a done event. */
export type ResetOutcome =
  | { kind: "forbidden" | "unknown" }
  | { kind: "reset"; chat: number; current?: { turn: string; doneId: number }; endedTurns: string[] };

export type ResetStore = (request: ResetRequest, now: Date) => Promise<ResetOutcome>;

const LOCK_CHAT = "select id from chat.chat where workspace_id = $1 and chat_id = $2 for no key update";
const LOCK_TURNS = `select t.id from chat.chat c join chat.turn t on t.chat = c.id
where c.workspace_id = $1 and c.chat_id = $2 and c.owner = $3 order by t.id for no key update of t`;

const RESET = `with target as (
  select id, owner, current_turn, last_event_id from chat.chat where workspace_id = $1 and chat_id = $2
),
owned as (select *, last_event_id + 1 as done_id from target where owner = $3),
ended as (
  update chat.turn t
  set status = 'reset', ended_at = $4, lease_token = null, lease_until = null, message = '', user_event = null,
    last_event_id = case when t.id = owned.current_turn then owned.done_id else 0 end
  from owned where t.chat = owned.id and t.status in ('waiting', 'ready', 'running')
  returning t.id
),
forgotten as (
  update chat.turn t set message = ''
  from owned where t.chat = owned.id and t.status not in ('waiting', 'ready', 'running')
),
steps_deleted as (delete from chat.step s using owned, chat.turn t where t.chat = owned.id and s.turn = t.id),
calls_deleted as (delete from chat.tool_call k using owned, chat.turn t where t.chat = owned.id and k.turn = t.id),
files_expired as (
  update chat.file f set expires_at = $4 from owned, chat.turn t where t.chat = owned.id and f.id = t.file_id
),
messages_deleted as (delete from chat.message m using owned where m.chat = owned.id),
events_deleted as (delete from chat.event e using owned where e.chat = owned.id),
done as (
  insert into chat.event (created_at, chat, id, turn, event)
  select $4, id, done_id, current_turn, $5 from owned where current_turn is not null
),
chat_changed as (
  update chat.chat c
  set current_turn = null, last_event_id = case when owned.current_turn is null then c.last_event_id else owned.done_id end,
    used_at = $4
  from owned where c.id = owned.id
)
select target.id as chat, owned.id is not null as owned, owned.current_turn as turn, owned.done_id as "doneId",
  array(select id::text from ended) as ended
from target left join owned on true`;

function freeSlots(queue: FairQueue): string {
  return `with settled as materialized (
  select q.item_id, q.group_id, q.member_id, q.lease_until is not null as in_flight, q.attempt as next_attempt,
    null::timestamptz as next_due, null::boolean as failing, q.due_at as settled_at, $3::timestamptz as freed_at
  from chat.chat c join chat.turn t on t.chat = c.id join ${queue.tables}_item q on q.item_id = t.id
  where c.workspace_id = $1 and c.chat_id = $2 and t.status = 'reset'
),
${settleParts(queue)}
select count(*)::integer as items from settled`;
}

/**
 * Deletes a chat's messages and events, lets its files expire, and ends its turns: what their workers still write changes
 * nothing. Event ids go on. `queue` is the one of the lane chat: only users reset chats.
 */
export function createResetStore(pool: Pool, queue: FairQueue): ResetStore {
  const freeText = freeSlots(queue);
  return async ({ workspaceId, chatId, owner, doneEvent }, now) => {
    const results = await pipelined(pool, [
      lockGroups(queue.tables, [workspaceId]),
      { name: "lock_chat", text: LOCK_CHAT, values: [workspaceId, chatId] },
      { name: "lock_turns_of_chat", text: LOCK_TURNS, values: [workspaceId, chatId, owner] },
      { name: "reset_chat", text: RESET, values: [workspaceId, chatId, owner, now, doneEvent] },
      { name: "free_reset_slots", text: freeText, values: [workspaceId, chatId, now] },
    ]);
    const [row] = results[3]?.rows ?? [];
    if (!row) return { kind: "unknown" };
    if (!row.owned) return { kind: "forbidden" };
    const current = row.turn && { turn: row.turn, doneId: row.doneId };
    return { kind: "reset", chat: row.chat, ...(current && { current }), endedTurns: row.ended };
  };
}
