import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import type { Pool } from "@toolgate/postgres/pool";
import { chatEvent } from "../../domain/chat-event.ts";
import { type CallRecord, MAX_MESSAGES, type Step } from "../../domain/turn.ts";
import { resetUpTo } from "../unfinished-resets.ts";
import type { ClaimedTurn } from "./claim.ts";

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

const STATE = `select c.last_event_id as "lastEventId", t.model, t.input_tokens as "inputTokens",
  t.output_tokens as "outputTokens"
from chat.turn t join chat.chat c on c.id = t.chat where t.id = $1`;

const MESSAGES = `select role, content from (
  select m.role, m.content, m.event_id from chat.message m
  where m.chat = $1 and m.event_id <= $2 and m.event_id > ${resetUpTo("$1")} and not $3
  order by m.event_id desc limit ${MAX_MESSAGES}
) newest order by event_id`;

const STEPS = "select number, content from chat.step where turn = $1 and not $2 order by number";

const CALLS = `select id, step, tool, case when $2 then '' else args end as args, status,
  case when $2 then '' else result end as result, duration_ms as "durationMs", suppressed
from chat.tool_call where turn = $1 order by started_at, id`;

const EVENTS = "select id, event from chat.event where chat = $1 and id > $2 and turn = $3 order by id";

/** Takes one round trip. `onlyEnds`: reads only what the end of the turn needs, which is not much. */
export async function loadTurn(
  pool: Pool,
  { id, chat, firstEventId }: Pick<ClaimedTurn, "id" | "chat" | "firstEventId">,
  { onlyEnds }: { onlyEnds: boolean },
): Promise<LoadedTurn> {
  const [state, messages, steps, calls, events] = await pipelined(pool, [
    { name: "load_state", text: STATE, values: [id] },
    { name: "load_messages", text: MESSAGES, values: [chat, firstEventId, onlyEnds] },
    { name: "load_steps", text: STEPS, values: [id, onlyEnds] },
    { name: "load_calls", text: CALLS, values: [id, onlyEnds] },
    { name: "load_events", text: EVENTS, values: [chat, firstEventId, id] },
  ]);
  const parts = (events?.rows ?? [])
    .map((row) => chatEvent(row.id, row.event))
    .filter(({ event }) => event.case === "message");
  return {
    ...state?.rows[0],
    messages: messages?.rows ?? [],
    steps: (steps?.rows ?? []).map(({ number, content }) => ({ number, ...JSON.parse(content) })),
    calls: calls?.rows ?? [],
    html: parts.map(({ event }) => (event.case === "message" ? event.value.content : "")).join(""),
    firstAnswerId: Number(parts[0]?.id ?? 0),
  };
}
