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
  turn uuid
);

create index file_age on chat.file (created_at);
create index file_of_user on chat.file (user_id);

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
  primary key (workspace_id, name)
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

-- Who changed what, on its way to the audit log.
create table chat.audit_outbox (
  id uuid primary key,
  at timestamptz not null,
  record bytea not null
);

create index audit_outbox_by_age on chat.audit_outbox (at);
