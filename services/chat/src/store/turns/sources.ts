import type { JsonValue } from "@bufbuild/protobuf";
import type { AssistantDefinition } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import { BUILDER_NAME } from "../../domain/assistants/builder.ts";
import { MAX_MESSAGES, SMALL_TURN_BYTES } from "../../domain/turn.ts";
import { type StoredDefinition, toDefinition } from "../assistants.ts";
import type { Budget } from "../budget.ts";
import type { ModelServer } from "../model-servers.ts";
import { resetUpTo } from "../unfinished-resets.ts";
import type { LoadedTurn, StoredMessage } from "./load.ts";

/** What a turn works with, as it was when the turn was claimed. */
export interface TurnSources {
  /** Undefined when it was deleted after the turn was accepted. */
  definition: AssistantDefinition | undefined;
  /** The definition's models that exist, in its order. */
  servers: ModelServer[];
  budget: Budget;
  /** Undefined when another worker has begun the turn, or when the history is large: see `loadTurn`. */
  loaded: LoadedTurn | undefined;
}

/** Whose definition a turn uses: the builder assistant has none, and asks the models of the default assistant. */
const ASSISTANT = `case when started.assistant <> '${BUILDER_NAME}' then started.assistant else (
    select s.default_assistant from chat.settings s where s.workspace_id = started.workspace_id
  ) end`;

/** Columns of a turn `started` in the chat `c`, for a statement whose $1 is the time. */
export const SOURCE_COLUMNS = `c.last_event_id as "lastEventId", newest.definition,
  case when started.before = 'ready' then (
    with h as materialized (
      select m.role, m.content, m.event_id from chat.message m
      where m.chat = started.chat and m.event_id <= started.first_event_id
        and m.event_id > ${resetUpTo("started.chat")}
      order by m.event_id desc limit ${MAX_MESSAGES}
    )
    select case when (select sum(octet_length(h.content)) from h) <= ${SMALL_TURN_BYTES} then (
      select json_agg(json_build_object('role', h.role, 'content', h.content) order by h.event_id) from h
    ) end
  ) end as messages,
  (
    select coalesce(json_agg(json_build_object('name', m.name, 'provider', m.provider, 'baseUrl', m.base_url,
      'model', m.model, 'readsFiles', m.reads_files, 'asksForUsage', m.asks_for_usage,
      'thinksFirst', m.thinks_first, 'apiKey', encode(m.api_key, 'base64')) order by wanted.place), '[]')
    from jsonb_array_elements_text(newest.definition -> 'models') with ordinality as wanted (name, place)
    join chat.model m on m.workspace_id = started.workspace_id and m.name = wanted.name
  ) as servers,
  coalesce((select tokens_per_day from chat.settings where workspace_id = started.workspace_id), 0)::bigint as "perDay",
  coalesce((
    select sum(input_tokens + output_tokens) from chat.usage
    where workspace_id = started.workspace_id and day = ($1::timestamptz at time zone 'UTC')::date
  ), 0)::bigint as used,
  newest.deleted`;

export const SOURCE_JOINS = `left join lateral (
  select a.definition, a.deleted from chat.assistant a
  where a.workspace_id = started.workspace_id and a.name = ${ASSISTANT} order by a.version desc limit 1
) newest on true`;

export interface SourceRow {
  lastEventId: number;
  messages: StoredMessage[] | null;
  definition: JsonValue | null;
  deleted: boolean | null;
  servers: (Omit<ModelServer, "apiKey"> & { apiKey: string | null })[];
  perDay: number;
  used: number;
}

export function sourcesOf(row: SourceRow & { assistant: string }): TurnSources {
  const { lastEventId, messages, servers, perDay, used, assistant } = row;
  const stored: StoredDefinition | undefined =
    row.definition === null ? undefined : { definition: row.definition, deleted: row.deleted ?? false };
  const nothing = { steps: [], calls: [], html: "", firstAnswerId: 0, model: "", inputTokens: 0, outputTokens: 0 };
  return {
    definition: toDefinition(assistant, stored),
    servers: servers.map(({ apiKey, ...server }) => ({
      ...server,
      apiKey: apiKey === null ? null : Buffer.from(apiKey, "base64"),
    })),
    budget: { perDay, used },
    loaded: messages === null ? undefined : { lastEventId, messages, ...nothing },
  };
}
