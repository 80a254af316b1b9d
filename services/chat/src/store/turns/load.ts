import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import type { Pool } from "@toolgate/postgres/pool";
import { chatEvent } from "../../domain/chat-event.ts";
import { type CallRecord, MAX_MESSAGES, type Step } from "../../domain/turn.ts";
import { resetUpTo } from "../unfinished-resets.ts";

export interface StoredMessage {
  role: "user" | "assistant";
  content: string;
}

/** What a worker needs to begin a turn, or to continue one that another worker has begun. */
export interface LoadedTurn {
  lastEventId: number;
  /** The chat's newest messages, oldest first; the last one is the one to answer. None for a turn that only has to end. */
  messages: StoredMessage[];
  steps: Step[];
  calls: CallRecord[];
  /** What was streamed of the answer so far. */
  html: string;
  /** The id of the answer's first event; 0 when there is none. */
  firstAnswerId: number;
  model: string;
  inputTokens: number;
  outputTokens: number;
}

const MESSAGES = `select role, content from (
  select m.role, m.content, m.event_id from chat.message m
  where m.chat = $1 and m.event_id <= $2 and m.event_id > ${resetUpTo("$1")}
  order by m.event_id desc limit ${MAX_MESSAGES}
) newest order by event_id`;

const STATE = `select c.last_event_id as "lastEventId", t.model, t.input_tokens as "inputTokens",
  t.output_tokens as "outputTokens"
from chat.turn t join chat.chat c on c.id = t.chat where t.id = $1`;

const STEPS = "select number, content from chat.step where turn = $1 order by number";

const CALLS = `select id, step, tool, args, status, result, duration_ms as "durationMs", suppressed
from chat.tool_call where turn = $1 order by started_at, id`;

const CALLS_TO_END = `select id, step, tool, '' as args, status, '' as result, duration_ms as "durationMs", suppressed
from chat.tool_call where turn = $1 order by started_at, id`;

const EVENTS = "select id, event from chat.event where chat = $1 and id > $2 and turn = $3 order by id";

interface Turn {
  id: string;
  chat: number;
  firstEventId: number;
  takenOver: boolean;
}

/** Takes one round trip. Reads what an earlier worker did only if there was one. Undefined when there is no such turn. */
export async function loadTurn(
  pool: Pool,
  { id, chat, firstEventId, takenOver }: Turn,
): Promise<LoadedTurn | undefined> {
  const [state, messages, steps, calls, events] = await pipelined(pool, [
    { name: "load_state", text: STATE, values: [id] },
    { name: "load_messages", text: MESSAGES, values: [chat, firstEventId] },
    ...(!takenOver
      ? []
      : [
          { name: "load_steps", text: STEPS, values: [id] },
          { name: "load_calls", text: CALLS, values: [id] },
          { name: "load_events", text: EVENTS, values: [chat, firstEventId, id] },
        ]),
  ]);
  return loadedTurn({ state, messages, steps, calls, events });
}

/** As `loadTurn`, but reads only what the end of the turn needs, which is not much. */
export async function loadTurnToEnd(
  pool: Pool,
  { id, chat, firstEventId, takenOver }: Turn,
): Promise<LoadedTurn | undefined> {
  const [state, calls, events] = await pipelined(pool, [
    { name: "load_state", text: STATE, values: [id] },
    ...(!takenOver
      ? []
      : [
          { name: "load_calls_to_end", text: CALLS_TO_END, values: [id] },
          { name: "load_events", text: EVENTS, values: [chat, firstEventId, id] },
        ]),
  ]);
  return loadedTurn({ state, calls, events });
}

type Result = Awaited<ReturnType<typeof pipelined>>[number] | undefined;
type Results = Partial<Record<"state" | "messages" | "steps" | "calls" | "events", Result>>;

function loadedTurn({ state, messages, steps, calls, events }: Results): LoadedTurn | undefined {
  const [found] = state?.rows ?? [];
  if (!found) return undefined;
  const streamed = (events?.rows ?? []).map((row) => chatEvent(row.id, row.event));
  const parts = streamed.filter(({ event }) => event.case === "message");
  return {
    ...found,
    messages: messages?.rows ?? [],
    steps: (steps?.rows ?? []).map(({ number, content }) => ({ number, ...JSON.parse(content) })),
    calls: calls?.rows ?? [],
    html: parts.map(({ event }) => (event.case === "message" ? event.value.content : "")).join(""),
    firstAnswerId: Number(parts[0]?.id ?? 0),
  };
}
