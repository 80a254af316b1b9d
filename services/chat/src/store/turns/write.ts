import { isDataError } from "@toolgate/postgres/data-error";
import { pipelined, type Statement } from "@toolgate/postgres/fair-queue/pipeline";
import type { Pool } from "@toolgate/postgres/pool";
import type { CallRecord } from "../../domain/turn.ts";
import { callStatement, type StepWrite, stepStatement } from "./journal.ts";

/** Something that a worker adds to a turn: events, calls of tools, and at most one finished step. */
export interface TurnWrite {
  turn: string;
  token: string;
  chat: number;
  /** The chat's last event id before this write. */
  before: number;
  /** As stored, with the ids that follow `before`. */
  events: readonly Uint8Array[];
  calls: readonly CallRecord[];
  step?: StepWrite;
  /** Set once it is committed. It stays false when the worker no longer holds the turn: then nothing was written. */
  written: boolean;
  /** Set when the database refuses the data. */
  error?: unknown;
}

/** Chats before turns, each in the order of their ids, so that no two transactions wait for each other. */
const LOCK_CHATS = "select id from chat.chat where id = any($1::bigint[]) order by id for no key update";
const LOCK_TURNS = "select id from chat.turn where id = any($1::uuid[]) order by id for no key update";

/** The worker chooses the ids. A write of a worker that has lost the turn, or a repeated write, changes nothing. */
const ADD_EVENTS = `with valid as (
  update chat.chat c set last_event_id = w.after
  from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[]) as w (turn, token, before, after)
  join chat.turn t on t.id = w.turn and t.lease_token = w.token and t.status = 'running'
  where c.id = t.chat and c.current_turn = t.id and c.last_event_id = w.before
  returning c.id as chat, w.turn
)
insert into chat.event (created_at, chat, id, turn, event)
select $5, valid.chat, e.id, valid.turn, e.event
from unnest($6::uuid[], $7::bigint[], $8::bytea[]) as e (turn, id, event) join valid on valid.turn = e.turn`;

/** Also finds a write that was committed before without its worker knowing. */
const FIND_WRITTEN = `select t.id
from unnest($1::uuid[], $2::uuid[], $3::bigint[]) as w (turn, token, after)
join chat.turn t on t.id = w.turn and t.lease_token = w.token and t.status = 'running'
join chat.chat c on c.id = t.chat and c.current_turn = t.id and c.last_event_id = w.after`;

/** Commits the writes of many turns as one transaction in one round trip. Data that cannot be stored fails alone. */
export async function writeTurns(pool: Pool, writes: readonly TurnWrite[], now: Date): Promise<void> {
  try {
    const results = await pipelined(pool, statementsOf(writes, now));
    const written = new Set(results.at(-1)?.rows.map((row) => row.id));
    for (const write of writes) write.written = written.has(write.turn);
  } catch (error) {
    if (!isDataError(error)) throw error;
    for (const write of writes) {
      if (writes.length === 1) write.error = error;
      else await writeTurns(pool, [write], now);
    }
  }
}

function statementsOf(writes: readonly TurnWrite[], now: Date): Statement[] {
  const turns = writes.map(({ turn }) => turn);
  const tokens = writes.map(({ token }) => token);
  const before = writes.map((write) => write.before);
  const after = writes.map((write) => write.before + write.events.length);
  const events = writes.flatMap((write) =>
    write.events.map((event, index) => ({ turn: write.turn, id: write.before + 1 + index, event })),
  );
  const calls = writes.flatMap((write) => write.calls.map((call) => ({ ...call, turn: write.turn })));
  const steps = writes.flatMap((write) => (write.step ? [{ ...write.step, turn: write.turn }] : []));
  const held = [turns, tokens, after];
  const statements: Statement[] = [
    { name: "lock_chats", text: LOCK_CHATS, values: [writes.map(({ chat }) => chat)] },
    { name: "lock_turns", text: LOCK_TURNS, values: [turns] },
    {
      name: "add_events",
      text: ADD_EVENTS,
      values: [
        turns,
        tokens,
        before,
        after,
        now,
        events.map(({ turn }) => turn),
        events.map(({ id }) => id),
        events.map(({ event }) => event),
      ],
    },
  ];
  if (calls.length > 0) statements.push(callStatement(held, calls, now));
  if (steps.length > 0) statements.push(stepStatement(held, steps, now));
  statements.push({ name: "find_written", text: FIND_WRITTEN, values: held });
  return statements;
}
