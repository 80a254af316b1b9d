import { randomUUID } from "node:crypto";
import { addParts } from "@toolgate/postgres/fair-queue/add";
import { lockGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined, type Statement } from "@toolgate/postgres/fair-queue/pipeline";
import { settleParts } from "@toolgate/postgres/fair-queue/settle";
import type { Pool } from "@toolgate/postgres/pool";
import type { Ending } from "../../domain/turn.ts";
import { LOCK_TIMEOUT_MS, ONLY_MEMBER, type TurnQueue } from "../queue.ts";
import type { HeldTurn } from "./leases.ts";

export interface TurnEnd extends Ending {
  turn: HeldTurn & { chat: number };
  /** The chat's last event id before this end. */
  before: number;
  /** The turn's last events, as stored, with the ids that follow `before`. */
  events: readonly Uint8Array[];
  /** The answer as it goes into the history, with the id of its first event. */
  answer?: { eventId: number; html: string };
  model: string;
  /** Tokens of the last step, which are not counted yet. */
  inputTokens: number;
  outputTokens: number;
}

/** The chat's next turn, which may start now: the user's message has become an event. */
export interface NextTurn {
  id: string;
  eventId: number;
  event: Uint8Array;
}

/** A turn that no worker has claimed, and its last event. */
export interface ReadyTurn {
  id: string;
  workspaceId: string;
  chat: number;
  lastEventId: number;
}

const END_TURN = `with valid as (
  select c.id as chat, t.id as turn, t.workspace_id
  from chat.turn t join chat.chat c on c.id = t.chat
  where t.id = $1 and t.lease_token = $2 and t.status = 'running' and c.current_turn = t.id and c.last_event_id = $3
),
events_added as (
  insert into chat.event (created_at, chat, id, turn, event)
  select $4, valid.chat, $3 + e.place, valid.turn, e.event
  from valid, unnest($5::bytea[]) with ordinality as e (event, place)
),
message_added as (
  insert into chat.message (chat, event_id, turn, role, content, created_at)
  select chat, $6, turn, 'assistant', $7, $4 from valid where $6::bigint is not null
),
turn_ended as (
  update chat.turn t
  set status = $8, ended_at = $4, last_event_id = $9, error_code = $10, error_message = $11, model = $12,
    input_tokens = t.input_tokens + $13, output_tokens = t.output_tokens + $14
  from valid where t.id = valid.turn
),
used as (
  insert into chat.usage (workspace_id, day, model, turns, input_tokens, output_tokens)
  select workspace_id, ($4::timestamptz at time zone 'UTC')::date, $12, 1, $13, $14 from valid where $12 <> ''
  on conflict (workspace_id, day, model) do update set turns = usage.turns + 1,
    input_tokens = usage.input_tokens + excluded.input_tokens,
    output_tokens = usage.output_tokens + excluded.output_tokens
),
next as (
  select t.id, t.chat, t.message, t.user_event, t.file_id
  from valid join chat.turn t on t.chat = valid.chat
  where t.status = 'waiting' order by t.number limit 1
  for no key update of t
),
next_event as (
  insert into chat.event (created_at, chat, id, turn, event) select $4, chat, $9 + 1, id, user_event from next
),
next_message as (
  insert into chat.message (chat, event_id, turn, role, content, files, created_at)
  select chat, $9 + 1, id, 'user', message, array(select f.name from chat.file f where f.id = next.file_id), $4 from next
),
next_ready as (
  update chat.turn t set status = 'ready', first_event_id = $9 + 1, user_event = null
  from next where t.id = next.id
),
chat_changed as (
  update chat.chat c
  set current_turn = (select id from next), last_event_id = $9 + (select count(*) from next), used_at = $4
  from valid where c.id = valid.chat
)
select next.id, next.user_event as event
from valid left join next on true`;

/** From here on no worker can claim the turn, and it ends like one that a worker holds. */
const TAKE_READY = `update chat.turn
set status = 'running', stop_requested = true, lease_token = $2, started_at = coalesce(started_at, $3)
where id = $1 and status = 'ready'`;

/** Also finds an end that was committed before without its worker knowing. */
const FIND_END = `select t.id from chat.turn t
where t.id = $1 and t.lease_token = $2 and t.status in ('completed', 'failed', 'stopped')`;

function freeSlot(queue: TurnQueue): string {
  return `with settled as materialized (
  select q.item_id, q.group_id, q.member_id, q.lease_until is not null as in_flight, q.attempt as next_attempt,
    null::timestamptz as next_due, null::boolean as failing, q.due_at as settled_at
  from ${queue.tables}_item q join chat.turn t on t.id = q.item_id
  where q.item_id = $1 and t.status not in ('waiting', 'ready', 'running')
),
${settleParts(queue)}
select count(*)::integer as items from settled`;
}

function queueNext(queue: TurnQueue): string {
  return `with queued as (
  select t.id as item_id, t.workspace_id as group_id, ${ONLY_MEMBER}::bigint as member_id, $2::timestamptz as due_at,
    t.created_at
  from chat.turn t
  where t.id = (select current_turn from chat.chat where id = $1) and t.status = 'ready'
    and not exists (select from ${queue.tables}_item q where q.item_id = t.id)
),
${addParts(queue)}
select count(*)::integer as added from queued`;
}

/** Undefined when the worker no longer holds the turn: then nothing was written. */
type Ended = Promise<{ next: NextTurn | undefined } | undefined>;

/**
 * Ends a turn in one transaction and one round trip: its last events, the answer, its slot in the queue, and the chat's
 * next turn, which may start now. `first` comes before that in the transaction.
 */
export async function endTurn(
  pool: Pool,
  queue: TurnQueue,
  end: TurnEnd,
  now: Date,
  first: readonly Statement[] = [],
): Ended {
  const { turn, before, events, answer, error } = end;
  const { lane, tables } = queue;
  const after = before + events.length;
  const values = [
    turn.id,
    turn.token,
    before,
    now,
    events,
    answer?.eventId ?? null,
    answer?.html ?? "",
    end.status,
    after,
    error?.code ?? "",
    error?.message ?? "",
    end.model,
    end.inputTokens,
    end.outputTokens,
  ];
  const statements = [
    lockGroups(tables, [turn.workspaceId]),
    { name: "lock_chat_row", text: "select id from chat.chat where id = $1 for no key update", values: [turn.chat] },
    { name: "lock_turn", text: "select id from chat.turn where id = $1 for no key update", values: [turn.id] },
    ...first,
    { name: "end_turn", text: END_TURN, values },
    { name: "find_end", text: FIND_END, values: [turn.id, turn.token] },
    { name: `free_${lane}_slot`, text: freeSlot(queue), values: [turn.id] },
    { name: `queue_next_${lane}_turn`, text: queueNext(queue), values: [turn.chat, now] },
  ];
  const results = await pipelined(pool, statements, { lockTimeoutMs: LOCK_TIMEOUT_MS });
  const [ended, found] = results.slice(3 + first.length);
  const [row] = ended?.rows ?? [];
  if (found?.rows.length === 0) return undefined;
  return { next: row?.id ? { id: row.id, eventId: after + 1, event: row.event } : undefined };
}

/** Ends a turn that waits for a worker, in the same way and without one. Undefined when a worker has claimed it. */
export function endReadyTurn(
  pool: Pool,
  queue: TurnQueue,
  { lastEventId, ...ready }: ReadyTurn,
  events: readonly Uint8Array[],
  now: Date,
): Ended {
  const turn = { ...ready, token: randomUUID() };
  const tokens = { model: "", inputTokens: 0, outputTokens: 0 };
  const take = { name: "take_ready_turn", text: TAKE_READY, values: [turn.id, turn.token, now] };
  return endTurn(pool, queue, { turn, before: lastEventId, events, status: "stopped", ...tokens }, now, [take]);
}
