create table chat.chat (
  id bigint generated always as identity primary key,
  workspace_id text collate "C" not null,
  -- As the client chose it.
  chat_id text collate "C" not null,
  -- The user's id, or hook:<hook id>.
  owner text collate "C" not null,
  -- The last id given to an event. Never reset.
  last_event_id bigint not null default 0,
  -- The number of its newest turn.
  last_turn integer not null default 0,
  -- The turn that has been started or may be claimed; the others wait for it.
  current_turn uuid,
  created_at timestamptz not null,
  used_at timestamptz not null,
  unique (workspace_id, chat_id)
) with (fillfactor = 70);

-- A user's message and the answer to it. The id is a UUID of version 7.
create table chat.turn (
  id uuid primary key,
  chat bigint not null references chat.chat (id) on delete cascade,
  -- Within the chat, in order of arrival.
  number integer not null,
  workspace_id text collate "C" not null,
  -- Its code.
  workspace text not null,
  lane text not null check (lane in ('chat', 'hook')),
  status text not null check (status in ('waiting', 'ready', 'running', 'completed', 'failed', 'stopped', 'reset', 'refused')),
  -- Null: every message is a new turn.
  client_message_id text collate "C",
  assistant text not null,
  -- Empty once the chat is reset.
  message text not null,
  -- The message as an event, while the turn waits. It gets its id when the turn may start.
  user_event bytea,
  -- Of the uploaded file, if there is one.
  file_id uuid,
  test_mode boolean not null,
  read_only boolean not null default false,
  hop smallint not null default 1,
  user_id text not null,
  request_id text not null,
  -- W3C trace context of the request; empty when it was not traced.
  traceparent text not null default '',
  -- Changes whenever a worker takes the turn, so that an earlier worker can no longer write.
  lease_token uuid,
  lease_until timestamptz,
  attempts smallint not null default 0,
  stop_requested boolean not null default false,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  -- Of the first and the last event; 0 before there is one.
  first_event_id bigint not null default 0,
  last_event_id bigint not null default 0,
  error_code text not null default '',
  error_message text not null default '',
  model text not null default '',
  input_tokens integer not null default 0,
  output_tokens integer not null default 0
) with (fillfactor = 70);

-- A turn that was refused never started: its message may be sent again.
create unique index turn_of_client_message on chat.turn (chat, client_message_id)
  where client_message_id is not null and status <> 'refused';
create unique index turn_of_chat on chat.turn (chat, number);
create index turn_open on chat.turn (chat, number) where status in ('waiting', 'ready', 'running');
create index turn_waiting on chat.turn (created_at) where status = 'waiting';
create index turn_leased on chat.turn (lease_until) where status = 'running';
create index turn_age on chat.turn (created_at);

-- The history. An answer is written when its turn ends; until then it is its events.
create table chat.message (
  chat bigint not null references chat.chat (id) on delete cascade,
  -- Of its first event.
  event_id bigint not null,
  turn uuid not null,
  role text not null check (role in ('user', 'assistant')),
  -- HTML of the assistant, plain text of the user.
  content text not null,
  files text[] not null default '{}',
  created_at timestamptz not null,
  primary key (chat, event_id)
);

create index message_created on chat.message (chat, created_at);

-- What a client sees, exactly as sent. Kept for a few days, so that streams can be resumed by event id.
create table chat.event (
  created_at timestamptz not null,
  chat bigint not null,
  id bigint not null,
  turn uuid not null,
  -- A toolgate.chat.v1.ChatEvent without its id.
  event bytea not null,
  primary key (chat, id, created_at)
) partition by range (created_at);

-- Steps of a turn that went on to call tools: what the model said and which calls it asked for, so that another worker can
-- continue. JSON is stored as text, because jsonb refuses some of it.
create table chat.step (
  turn uuid not null references chat.turn (id) on delete cascade,
  number smallint not null,
  content text not null,
  primary key (turn, number)
);

-- Calls of tools. The row is committed before the tool starts, so that no tool runs twice.
create table chat.tool_call (
  turn uuid not null references chat.turn (id) on delete cascade,
  id text collate "C" not null,
  step smallint not null,
  tool text not null,
  args text not null,
  status text not null check (status in ('started', 'succeeded', 'failed', 'unknown')),
  -- For the model; at most 64 KB.
  result text not null default '',
  duration_ms integer not null default 0,
  -- Tools whose writes test mode suppressed.
  suppressed text[] not null default '{}',
  started_at timestamptz not null,
  primary key (turn, id)
);

-- An uploaded file.
create table chat.file (
  id uuid primary key,
  user_id text not null,
  name text not null,
  -- As its content shows; application/octet-stream for one that no model reads.
  content_type text not null default 'application/octet-stream',
  -- 0 until it is stored completely.
  size bigint not null default 0,
  created_at timestamptz not null,
  -- Both null until a message uses it.
  workspace_id text collate "C",
  turn uuid,
  -- When it is deleted: soon when no message uses it or its chat was reset, else at the end of its retention.
  expires_at timestamptz not null default now() + interval '1 hour'
);

create index file_expiry on chat.file (expires_at);
create index file_of_user on chat.file (user_id);

-- Every save of an assistant.
create table chat.assistant (
  workspace_id text collate "C" not null,
  name text collate "C" not null,
  version integer not null,
  -- A toolgate.chat.v1.AssistantDefinition as JSON.
  definition jsonb not null,
  saved_at timestamptz not null,
  saved_by text not null,
  deleted boolean not null default false,
  primary key (workspace_id, name, version)
);

-- A language model at a server of the workspace's choice. Prices are in millionths of the currency's unit for a million
-- tokens, if the workspace has said them.
create table chat.model (
  workspace_id text collate "C" not null,
  name text collate "C" not null,
  provider text not null check (provider in ('openai_compatible', 'anthropic')),
  base_url text not null,
  model text not null,
  reads_files boolean not null,
  -- Sealed; null when there is none.
  api_key bytea,
  saved_at timestamptz not null,
  saved_by text not null,
  currency text,
  input_price bigint check (input_price >= 0),
  output_price bigint check (output_price >= 0),
  primary key (workspace_id, name),
  check ((currency is null) = (input_price is null) and (currency is null) = (output_price is null))
);

create table chat.settings (
  workspace_id text collate "C" primary key,
  default_assistant text,
  tokens_per_day bigint not null default 0,
  allowed_origins text[] not null default '{}'
);

create index settings_allowed_origins on chat.settings using gin (allowed_origins);

-- Tokens used, per day in UTC and model.
create table chat.usage (
  workspace_id text collate "C" not null,
  day date not null,
  model text not null,
  turns integer not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  primary key (workspace_id, day, model)
);

-- What usage cost at the prices of its time, in millionths of a millionth of the currency's unit.
create table chat.usage_cost (
  workspace_id text collate "C" not null,
  day date not null,
  model text not null,
  currency text not null,
  cost numeric(38, 0) not null,
  primary key (workspace_id, day, model, currency)
);

-- Tokens are counted by two statements, and this way their cost is in one place.
create function chat.add_usage_cost() returns trigger language plpgsql as $$
declare
  input bigint := new.input_tokens;
  output bigint := new.output_tokens;
begin
  if tg_op = 'UPDATE' then
    input := input - old.input_tokens;
    output := output - old.output_tokens;
  end if;
  insert into chat.usage_cost (workspace_id, day, model, currency, cost)
  select new.workspace_id, new.day, new.model, m.currency, input::numeric * m.input_price + output::numeric * m.output_price
  from chat.model m
  where m.workspace_id = new.workspace_id and m.name = new.model and m.currency is not null
  on conflict (workspace_id, day, model, currency) do update set cost = usage_cost.cost + excluded.cost;
  return null;
end
$$;

create trigger add_usage_cost after insert or update on chat.usage for each row execute function chat.add_usage_cost();

-- Resets of chats with rows that are still to be deleted. Nobody sees the chat's messages and events up to this id any more.
create table chat.unfinished_reset (
  chat bigint not null references chat.chat (id) on delete cascade,
  -- The last event id before the reset.
  up_to bigint not null,
  workspace_id text collate "C" not null,
  primary key (chat, up_to)
);

-- Workspaces take turns.
create index unfinished_reset_of_workspace on chat.unfinished_reset (workspace_id, chat);

-- Who changed what, on its way to the audit log.
create table chat.audit_outbox (
  id uuid primary key,
  at timestamptz not null,
  record bytea not null
);

create index audit_outbox_by_age on chat.audit_outbox (at);

-- A queue for each lane, from packages/postgres/src/fair-queue/tables.ts. Its items are turns that may start.
create table chat.chat_queue_group (
  group_id text collate "C" primary key,
  ready_at timestamptz not null default 'infinity',
  turn_at timestamptz not null default '-infinity',
  in_flight integer not null default 0 check (in_flight >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 1);

create index chat_queue_group_ready on chat.chat_queue_group (ready_at);

create table chat.chat_queue_member (
  group_id text collate "C" not null,
  member_id bigint not null,
  ready_at timestamptz not null,
  in_flight integer not null default 0 check (in_flight >= 0),
  failing boolean not null default false,
  progress_at timestamptz,
  primary key (group_id, member_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 1);

create table chat.chat_queue_item (
  item_id uuid primary key,
  group_id text collate "C" not null,
  member_id bigint not null,
  created_at timestamptz not null,
  due_at timestamptz not null,
  attempt integer not null default 1,
  lease_until timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 1);

create index chat_queue_item_waiting on chat.chat_queue_item (group_id, member_id, due_at, item_id) where lease_until is null;
create index chat_queue_item_leased on chat.chat_queue_item (lease_until) where lease_until is not null;

create table chat.hook_queue_group (
  group_id text collate "C" primary key,
  ready_at timestamptz not null default 'infinity',
  turn_at timestamptz not null default '-infinity',
  in_flight integer not null default 0 check (in_flight >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 1);

create index hook_queue_group_ready on chat.hook_queue_group (ready_at);

create table chat.hook_queue_member (
  group_id text collate "C" not null,
  member_id bigint not null,
  ready_at timestamptz not null,
  in_flight integer not null default 0 check (in_flight >= 0),
  failing boolean not null default false,
  progress_at timestamptz,
  primary key (group_id, member_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 1);

create table chat.hook_queue_item (
  item_id uuid primary key,
  group_id text collate "C" not null,
  member_id bigint not null,
  created_at timestamptz not null,
  due_at timestamptz not null,
  attempt integer not null default 1,
  lease_until timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 1);

create index hook_queue_item_waiting on chat.hook_queue_item (group_id, member_id, due_at, item_id) where lease_until is null;
create index hook_queue_item_leased on chat.hook_queue_item (lease_until) where lease_until is not null;
