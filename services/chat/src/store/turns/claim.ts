import type { JsonValue } from "@bufbuild/protobuf";
import type { AssistantDefinition } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import { prepareClaim } from "@toolgate/postgres/fair-queue/claim";
import { lockDueGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import type { Pool } from "@toolgate/postgres/pool";
import { BUILDER_NAME } from "../../domain/assistants/builder.ts";
import { MAX_MESSAGES } from "../../domain/turn.ts";
import { toDefinition } from "../assistants.ts";
import type { ModelServer } from "../model-servers.ts";
import type { Lane, TurnQueue } from "../queue.ts";
import { resetUpTo } from "../unfinished-resets.ts";
import type { Budget } from "../usage.ts";
import { LEASE_MS } from "./leases.ts";

/** A turn that a worker holds from now on, and what it works with, as it is now. */
export interface ClaimedTurn {
  id: string;
  /** The chat's row. */
  chat: number;
  /** The client's name for the chat. */
  chatId: string;
  number: number;
  workspaceId: string;
  workspace: string;
  lane: Lane;
  assistant: string;
  fileId: string | null;
  /** 0 without a file. */
  fileBytes: number;
  testMode: boolean;
  readOnly: boolean;
  hop: number;
  userId: string;
  requestId: string;
  traceparent: string;
  /** Proves that the worker still holds the turn. */
  token: string;
  /** Another worker has begun it. */
  takenOver: boolean;
  /** Counts the workers that were lost, and this one. */
  attempt: number;
  stopRequested: boolean;
  createdAt: Date;
  startedAt: Date;
  firstEventId: number;
  /** How many bytes `loadTurn` reads. */
  bytes: number;
  /** Undefined when it was deleted after the turn was accepted. */
  definition: AssistantDefinition | undefined;
  /** The definition's models that exist, in its order. */
  servers: ModelServer[];
  budget: Budget;
}

interface Claim {
  turns: ClaimedTurn[];
  /** Whether more turns may be due. */
  full: boolean;
}

/** An item is in the queue until its turn ends; the lease that can expire is the turn's. */
const NEVER = new Date("9999-01-01T00:00:00Z");

/**
 * Rows are locked in the order of their ids, as everywhere, so that no two transactions wait for each other. They are found by
 * nothing but the id: through the index of open turns, a plan that was made while there were few would read them all.
 */
const STARTED = `,
picked as (
  select id, status from chat.turn where id = any(array(select item_id from claimed)) order by id for no key update
),
started as (
  update chat.turn t
  set status = 'running', lease_token = gen_random_uuid(), lease_until = $1 + interval '${LEASE_MS} milliseconds',
    attempts = t.attempts + 1, started_at = coalesce(t.started_at, $1)
  from picked where t.id = picked.id and picked.status in ('ready', 'running')
  returning t.*, picked.status as before
)`;

const BYTES = `(
  select coalesce(sum(octet_length(newest.content)), 0) from (
    select m.content from chat.message m
    where m.chat = started.chat and m.event_id <= started.first_event_id and m.event_id > ${resetUpTo("started.chat")}
    order by m.event_id desc limit ${MAX_MESSAGES}
  ) newest
) + (
  select coalesce(sum(octet_length(s.content)), 0) from chat.step s where s.turn = started.id
) + (
  select coalesce(sum(octet_length(c.args) + octet_length(c.result)), 0) from chat.tool_call c where c.turn = started.id
) + case when started.before = 'ready' then 0 else (
  select coalesce(sum(octet_length(e.event)), 0) from chat.event e
  where e.chat = started.chat and e.id > started.first_event_id and e.turn = started.id
) end`;

const SERVERS = `(
  select coalesce(json_agg(json_build_object('name', m.name, 'provider', m.provider, 'baseUrl', m.base_url,
    'model', m.model, 'readsFiles', m.reads_files, 'asksForUsage', m.asks_for_usage,
    'thinksFirst', m.thinks_first, 'apiKey', encode(m.api_key, 'base64')) order by wanted.place), '[]')
  from jsonb_array_elements_text(newest.definition -> 'models') with ordinality as wanted (name, place)
  join chat.model m on m.workspace_id = started.workspace_id and m.name = wanted.name
)`;

/** Whose definition a turn uses: the builder assistant has none, and asks the models of the default assistant. */
const ASSISTANT = `case when started.assistant <> '${BUILDER_NAME}' then started.assistant else (
    select s.default_assistant from chat.settings s where s.workspace_id = started.workspace_id
  ) end`;

const CLAIM = `${STARTED}
select started.id, started.chat, c.chat_id as "chatId", started.number, started.workspace_id as "workspaceId",
  started.workspace, started.lane, started.assistant, started.file_id as "fileId", started.test_mode as "testMode",
  started.read_only as "readOnly", started.hop, started.user_id as "userId", started.request_id as "requestId",
  started.traceparent, started.lease_token as token, started.attempts as attempt,
  started.before = 'running' as "takenOver", started.stop_requested as "stopRequested",
  started.created_at as "createdAt", started.started_at as "startedAt", started.first_event_id as "firstEventId",
  coalesce((select f.size from chat.file f where f.id = started.file_id), 0) as "fileBytes",
  (${BYTES})::bigint as bytes, newest.definition, newest.deleted, ${SERVERS} as servers,
  coalesce((select tokens_per_day from chat.settings where workspace_id = started.workspace_id), 0)::bigint as "perDay",
  coalesce((
    select sum(input_tokens + output_tokens) from chat.usage
    where workspace_id = started.workspace_id and day = ($1::timestamptz at time zone 'UTC')::date
  ), 0)::bigint as used
from started join chat.chat c on c.id = started.chat
left join lateral (
  select a.definition, a.deleted from chat.assistant a
  where a.workspace_id = started.workspace_id and a.name = ${ASSISTANT} order by a.version desc limit 1
) newest on true`;

/**
 * Claims turns of a lane that may start, or that another worker has lost, together with what they need: one round trip
 * for all of them. A claim does not wait for the disk: it is on disk before anything that its worker commits later.
 */
export async function claimTurns(pool: Pool, queue: TurnQueue, now: Date, maxGroups: number): Promise<Claim> {
  const claim = prepareClaim(queue, { name: `claim_${queue.lane}_turns`, text: CLAIM });
  const statements = [lockDueGroups(queue.tables, now, maxGroups), claim({ now, leaseUntil: NEVER })];
  const [locked, claimed] = await pipelined(pool, statements);
  const turns: ClaimedTurn[] = (claimed?.rows ?? []).map(toTurn);
  const groups: number = locked?.rows[0].groups ?? 0;
  return { turns, full: groups === maxGroups || (groups > 0 && turns.length === 0) };
}

type Row = Omit<ClaimedTurn, "definition" | "servers" | "budget"> &
  Budget & {
    definition: JsonValue | null;
    deleted: boolean;
    servers: (Omit<ModelServer, "apiKey"> & { apiKey: string | null })[];
  };

function toTurn({ definition, deleted, servers, perDay, used, ...turn }: Row): ClaimedTurn {
  return {
    ...turn,
    definition: toDefinition(turn.assistant, definition === null ? undefined : { definition, deleted }),
    servers: servers.map(({ apiKey, ...server }) => ({
      ...server,
      apiKey: apiKey === null ? null : Buffer.from(apiKey, "base64"),
    })),
    budget: { perDay, used },
  };
}
