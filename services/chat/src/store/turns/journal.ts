import type { Statement } from "@toolgate/postgres/fair-queue/pipeline";
import type { CallRecord, Step } from "../../domain/turn.ts";

export interface StepWrite extends Step {
  model: string;
  inputTokens: number;
  outputTokens: number;
}

/** The turns that the worker still holds and whose events were added by the same transaction. */
const HELD = `held as (
  select t.id, t.workspace_id
  from unnest($1::uuid[], $2::uuid[], $3::bigint[]) as w (turn, token, after)
  join chat.turn t on t.id = w.turn and t.lease_token = w.token and t.status = 'running'
  join chat.chat c on c.id = t.chat and c.current_turn = t.id and c.last_event_id = w.after
)`;

/** A call's row is added when it starts, and gets its result once. */
const WRITE_CALLS = `with ${HELD}
insert into chat.tool_call (turn, id, step, tool, args, status, result, duration_ms, suppressed, started_at)
select held.id, call.id, call.step, call.tool, texts.args, call.status, texts.result, call.duration_ms,
  array(select jsonb_array_elements_text(call.suppressed)), $4
from jsonb_to_recordset($5::jsonb) as call (turn uuid, id text, step smallint, tool text, status text,
  duration_ms integer, suppressed jsonb, place integer)
join unnest($6::text[], $7::text[]) with ordinality as texts (args, result, place) on texts.place = call.place
join held on held.id = call.turn
on conflict (turn, id) do update set status = excluded.status, result = excluded.result,
  duration_ms = excluded.duration_ms, suppressed = excluded.suppressed
where tool_call.status = 'started'`;

export function callStatement(
  held: readonly unknown[],
  calls: readonly (CallRecord & { turn: string })[],
  now: Date,
): Statement {
  const rows = calls.map(({ turn, id, step, tool, status, durationMs, suppressed }, index) => ({
    turn,
    id,
    step,
    tool,
    status,
    duration_ms: durationMs,
    suppressed,
    place: index + 1,
  }));
  const texts = [calls.map(({ args }) => args), calls.map(({ result }) => result.replaceAll("\0", ""))];
  return { name: "write_calls", text: WRITE_CALLS, values: [...held, now, JSON.stringify(rows), ...texts] };
}

/** Tokens count once, also when the write is repeated. */
const WRITE_STEPS = `with ${HELD},
finished as (
  select held.workspace_id, step.*
  from jsonb_to_recordset($5::jsonb) as step (turn uuid, number smallint, model text, input_tokens integer,
    output_tokens integer, place integer)
  join held on held.id = step.turn
),
added as (
  insert into chat.step (turn, number, content)
  select finished.turn, finished.number, texts.content
  from finished join unnest($6::text[]) with ordinality as texts (content, place) on texts.place = finished.place
  on conflict do nothing
  returning turn
),
counted as (
  update chat.turn t set model = finished.model, input_tokens = t.input_tokens + finished.input_tokens,
    output_tokens = t.output_tokens + finished.output_tokens
  from added join finished on finished.turn = added.turn where t.id = added.turn
)
insert into chat.usage (workspace_id, day, model, input_tokens, output_tokens)
select workspace_id, ($4::timestamptz at time zone 'UTC')::date, model, sum(input_tokens), sum(output_tokens)
from added join finished on finished.turn = added.turn
group by workspace_id, model order by workspace_id, model
on conflict (workspace_id, day, model) do update
set input_tokens = usage.input_tokens + excluded.input_tokens,
  output_tokens = usage.output_tokens + excluded.output_tokens`;

export function stepStatement(
  held: readonly unknown[],
  steps: readonly (StepWrite & { turn: string })[],
  now: Date,
): Statement {
  const rows = steps.map(({ turn, number, model, inputTokens, outputTokens }, index) => ({
    turn,
    number,
    model,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    place: index + 1,
  }));
  const contents = steps.map(({ html, calls }) => JSON.stringify({ html, calls }));
  return { name: "write_steps", text: WRITE_STEPS, values: [...held, now, JSON.stringify(rows), contents] };
}
