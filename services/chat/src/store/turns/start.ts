import { addParts } from "@toolgate/postgres/fair-queue/add";
import { makeAndLockGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import type { Pool } from "@toolgate/postgres/pool";
import { BUILDER_NAME } from "../../domain/assistants/builder.ts";
import { BUILT_IN_NAME } from "../../domain/assistants/built-in.ts";
import { MAX_WAITING_TURNS, type TurnStatus } from "../../domain/turn.ts";
import { FILE_RETENTION } from "../files.ts";
import { type Lane, LOCK_TIMEOUT_MS, ONLY_MEMBER, type TurnQueue } from "../queue.ts";

/** A user's message to answer. */
export interface NewTurn {
  /** A UUID of version 7. */
  id: string;
  lane: Lane;
  workspaceId: string;
  /** The workspace's code. */
  workspace: string;
  /** The client's name for the chat. */
  chatId: string;
  /** The user's id, or hook:<hook id>. */
  owner: string;
  userId: string;
  message: string;
  /** The message as an event. */
  userEvent: Uint8Array;
  /** Empty: the workspace's default. */
  assistant: string;
  /** Empty: every message is a new turn. */
  clientMessageId: string;
  /** Empty: none. */
  fileId: string;
  testMode: boolean;
  readOnly: boolean;
  hop: 1 | 2;
  requestId: string;
  traceparent: string;
}

/** A turn, as those who follow it need it. */
export interface TurnRef {
  id: string;
  /** The chat's row. */
  chat: number;
  status: TurnStatus;
  /** The event id of the user's message; 0 while the turn waits. */
  firstEventId: number;
}

/**
 * `joined`: the same client message started this turn before. `forbidden`: the chat belongs to another user. `busy`: too
 * many turns of the chat are waiting.
 */
export type StartOutcome =
  | { kind: "started" | "joined"; turn: TurnRef }
  | { kind: "forbidden" | "busy" | "no-assistant" | "no-file" };

const MAKE_CHAT = `insert into chat.chat (workspace_id, chat_id, owner, created_at, used_at)
select $1, $2, $3, $4, $4
where not exists (select from chat.chat where workspace_id = $1 and chat_id = $2)
on conflict do nothing`;

const LOCK_CHAT = "select id from chat.chat where workspace_id = $1 and chat_id = $2 for no key update";

/** The chat is locked, so what is read here cannot change before the turn is added. */
const ADD_TURN = `with target as (
  select id, owner, current_turn, last_event_id, last_turn from chat.chat where workspace_id = $1 and chat_id = $2
),
wanted as (
  select coalesce(nullif($5, ''), s.default_assistant, '${BUILT_IN_NAME}') as name, s.default_assistant as default
  from (select) one left join chat.settings s on s.workspace_id = $1
),
assistant as (
  select wanted.name
  from wanted left join lateral (
    select deleted from chat.assistant a where a.workspace_id = $1 and a.name = wanted.name
    order by a.version desc limit 1
  ) newest on true
  where wanted.name = '${BUILDER_NAME}'
    or not coalesce(newest.deleted, wanted.default is not null or wanted.name <> '${BUILT_IN_NAME}')
),
earlier as (
  select t.id, t.status, t.first_event_id
  from target join chat.turn t on t.chat = target.id
  where target.owner = $3 and t.client_message_id = nullif($6, '') and t.status <> 'refused'
),
allowed as (
  select target.*, target.current_turn is null as starts
  from target
  where owner = $3 and not exists (select from earlier) and exists (select from assistant)
    and (select count(*) from chat.turn t where t.chat = target.id and t.status = 'waiting') < ${MAX_WAITING_TURNS}
),
used_file as (
  update chat.file f set turn = $7, workspace_id = $1, expires_at = f.created_at + ${FILE_RETENTION}
  from allowed
  where f.id = nullif($8, '')::uuid and f.user_id = $9 and f.turn is null and f.size > 0
  returning f.name
),
added as (
  insert into chat.turn (id, chat, number, workspace_id, workspace, lane, status, client_message_id, assistant, message,
    user_event, file_id, test_mode, read_only, hop, user_id, request_id, traceparent, created_at, first_event_id)
  select $7, allowed.id, allowed.last_turn + 1, $1, $10, $11, case when starts then 'ready' else 'waiting' end,
    nullif($6, ''), assistant.name, $12, case when not starts then $13::bytea end, nullif($8, '')::uuid, $14, $15, $16,
    $9, $17, $18, $4, case when starts then allowed.last_event_id + 1 else 0 end
  from allowed, assistant
  where $8 = '' or exists (select from used_file)
  returning id, chat, number, status, first_event_id
),
chat_changed as (
  update chat.chat c
  set last_turn = added.number, used_at = $4,
    current_turn = case when added.status = 'ready' then added.id else c.current_turn end,
    last_event_id = greatest(c.last_event_id, added.first_event_id)
  from added where c.id = added.chat
),
event_added as (
  insert into chat.event (created_at, chat, id, turn, event)
  select $4, chat, first_event_id, id, $13 from added where status = 'ready'
),
message_added as (
  insert into chat.message (chat, event_id, turn, role, content, files, created_at)
  select chat, first_event_id, id, 'user', $12, array(select name from used_file), $4 from added where status = 'ready'
)
select target.id as chat, target.owner = $3 as owned, exists (select from assistant) as assistant,
  exists (select from allowed) as allowed,
  coalesce(added.id, earlier.id) as id, coalesce(added.status, earlier.status) as status,
  coalesce(added.first_event_id, earlier.first_event_id) as "firstEventId", earlier.id is not null as joined
from target left join added on true left join earlier on true`;

function queueTurn(queue: TurnQueue): string {
  return `with queued as (
  select t.id as item_id, t.workspace_id as group_id, ${ONLY_MEMBER}::bigint as member_id,
    t.created_at as due_at, t.created_at
  from chat.turn t where t.id = $1 and t.status = 'ready' and t.lane = '${queue.lane}'
),
${addParts(queue)}
select count(*)::integer as added from queued`;
}

/**
 * Adds a turn to a chat, which is created if it is new, in one transaction and one round trip. It may start immediately
 * if the chat has no other turn; otherwise it waits, and the user's message joins the chat when it may start.
 */
export async function startTurn(pool: Pool, queue: TurnQueue, turn: NewTurn, now: Date): Promise<StartOutcome> {
  const { workspaceId, chatId, owner } = turn;
  const statements = [
    ...makeAndLockGroups(queue.tables, [workspaceId]),
    { name: "make_chat", text: MAKE_CHAT, values: [workspaceId, chatId, owner, now] },
    { name: "lock_chat", text: LOCK_CHAT, values: [workspaceId, chatId] },
    { name: "add_turn", text: ADD_TURN, values: addValues(turn, now) },
    { name: `queue_${queue.lane}_turn`, text: queueTurn(queue), values: [turn.id] },
  ];
  const results = await pipelined(pool, statements, { lockTimeoutMs: LOCK_TIMEOUT_MS });
  return outcomeOf(results.at(-2)?.rows[0], turn);
}

function addValues(turn: NewTurn, now: Date): unknown[] {
  return [
    turn.workspaceId,
    turn.chatId,
    turn.owner,
    now,
    turn.assistant,
    turn.clientMessageId,
    turn.id,
    turn.fileId,
    turn.userId,
    turn.workspace,
    turn.lane,
    turn.message,
    turn.userEvent,
    turn.testMode,
    turn.readOnly,
    turn.hop,
    turn.requestId,
    turn.traceparent,
  ];
}

type AddedRow = TurnRef & { owned: boolean; assistant: boolean; allowed: boolean; joined: boolean };

function outcomeOf(row: AddedRow, { fileId }: NewTurn): StartOutcome {
  const { id, chat, status, firstEventId, joined } = row;
  if (!row.owned) return { kind: "forbidden" };
  if (id !== null) return { kind: joined ? "joined" : "started", turn: { id, chat, status, firstEventId } };
  if (!row.assistant) return { kind: "no-assistant" };
  return { kind: row.allowed && fileId !== "" ? "no-file" : "busy" };
}
