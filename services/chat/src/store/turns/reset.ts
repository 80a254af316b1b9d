import { lockGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import { settleParts } from "@toolgate/postgres/fair-queue/settle";
import type { Pool } from "@toolgate/postgres/pool";
import { LOCK_TIMEOUT_MS, type TurnQueue } from "../queue.ts";

interface ResetRequest {
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

const LOCK_CHAT = "select id from chat.chat where workspace_id = $1 and chat_id = $2 for no key update";
const LOCK_OPEN_TURNS = `select t.id from chat.chat c join chat.turn t on t.chat = c.id
where c.workspace_id = $1 and c.chat_id = $2 and c.owner = $3 and t.status in ('waiting', 'ready', 'running')
order by t.id for no key update of t`;

const RESET = `with target as (
  select id, owner, current_turn, last_event_id from chat.chat where workspace_id = $1 and chat_id = $2
),
owned as (select *, last_event_id + 1 as done_id from target where owner = $3),
ended as (
  update chat.turn t
  set status = 'reset', ended_at = $4, lease_token = null, lease_until = null, message = '', user_event = null,
    last_event_id = case when t.id = owned.current_turn then owned.done_id else 0 end
  from owned where t.chat = owned.id and t.status in ('waiting', 'ready', 'running')
  returning t.id, t.file_id
),
files_expired as (update chat.file f set expires_at = $4 from ended where f.id = ended.file_id),
hidden as (
  insert into chat.unfinished_reset (chat, up_to, workspace_id)
  select id, last_event_id, $1 from owned
  where not exists (select from chat.unfinished_reset r where r.chat = owned.id and r.up_to >= owned.last_event_id)
),
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

/** Only a chat's current turn is in the queue. */
function freeSlot(queue: TurnQueue): string {
  return `with settled as materialized (
  select q.item_id, q.group_id, q.member_id, q.lease_until is not null as in_flight, q.attempt as next_attempt,
    null::timestamptz as next_due, null::boolean as failing, q.due_at as settled_at
  from chat.chat c join ${queue.tables}_item q on q.item_id = c.current_turn
  where c.workspace_id = $1 and c.chat_id = $2 and c.owner = $3
),
${settleParts(queue)}
select count(*)::integer as items from settled`;
}

/**
 * Hides a chat's messages and events, and ends its turns: what their workers still write changes nothing. Event ids go on.
 * What is hidden is deleted later (`unfinished-resets.ts`), so that the queue's lock is held for milliseconds however long
 * the chat is. `queue` is the one of the lane chat: only users reset chats.
 */
export async function resetChat(
  pool: Pool,
  queue: TurnQueue,
  { workspaceId, chatId, owner, doneEvent }: ResetRequest,
  now: Date,
): Promise<ResetOutcome> {
  const statements = [
    lockGroups(queue.tables, [workspaceId]),
    { name: "lock_chat", text: LOCK_CHAT, values: [workspaceId, chatId] },
    { name: "lock_open_turns", text: LOCK_OPEN_TURNS, values: [workspaceId, chatId, owner] },
    { name: "free_reset_slot", text: freeSlot(queue), values: [workspaceId, chatId, owner] },
    { name: "reset_chat", text: RESET, values: [workspaceId, chatId, owner, now, doneEvent] },
  ];
  const results = await pipelined(pool, statements, { lockTimeoutMs: LOCK_TIMEOUT_MS });
  const [row] = results.at(-1)?.rows ?? [];
  if (!row) return { kind: "unknown" };
  if (!row.owned) return { kind: "forbidden" };
  const current = row.turn && { turn: row.turn, doneId: row.doneId };
  return { kind: "reset", chat: row.chat, ...(current && { current }), endedTurns: row.ended };
}
