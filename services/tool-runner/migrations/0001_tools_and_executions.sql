-- The tools of each workspace. `version` is the one that runs.
create table tool_runner.tools (
  workspace_id uuid not null,
  name text not null,
  version integer not null,
  deleted_at timestamptz,
  primary key (workspace_id, name)
);

-- Every save of a tool. The flags of the release stand next to the definition, because reading them from a large one
-- would decompress all of it.
create table tool_runner.tool_versions (
  workspace_id uuid not null,
  name text not null,
  version integer not null,
  definition jsonb not null,
  saved_at timestamptz not null default now(),
  saved_by text not null,
  external_api jsonb generated always as (definition -> 'external_api') stored,
  async jsonb generated always as (definition -> 'async') stored,
  -- When a run of this version, or of an earlier one with the same code, first ended by itself.
  completed_at timestamptz,
  primary key (workspace_id, name, version),
  foreign key (workspace_id, name) references tool_runner.tools (workspace_id, name) on delete cascade
);

-- What a workspace says about its tools in the documents of its keys: an ApiDescription as JSON.
create table tool_runner.api_descriptions (
  workspace_id uuid primary key,
  about jsonb not null,
  saved_at timestamptz not null default now(),
  saved_by text not null
);

-- The database that a workspace's queries run on.
create table tool_runner.data_sources (
  workspace_id uuid primary key,
  sealed_url bytea not null,
  saved_at timestamptz not null default now()
);

create table tool_runner.prepared_queries (
  workspace_id uuid not null,
  name text not null,
  sql text not null,
  mode text not null check (mode in ('read', 'write')),
  saved_at timestamptz not null default now(),
  saved_by text not null,
  primary key (workspace_id, name)
);

create table tool_runner.secrets (
  workspace_id uuid not null,
  name text not null,
  sealed_value bytea not null,
  hosts text[] not null,
  saved_at timestamptz not null default now(),
  saved_by text not null,
  primary key (workspace_id, name)
);

create table tool_runner.variables (
  workspace_id uuid not null,
  name text not null,
  value text not null,
  saved_at timestamptz not null default now(),
  saved_by text not null,
  primary key (workspace_id, name)
);

create table tool_runner.sheets (
  workspace_id uuid not null,
  name text not null,
  primary key (workspace_id, name)
);

-- Only filled cells; rows and columns count from 1.
create table tool_runner.sheet_cells (
  workspace_id uuid not null,
  sheet text not null,
  row_number integer not null,
  column_number integer not null,
  value jsonb not null,
  primary key (workspace_id, sheet, row_number, column_number),
  foreign key (workspace_id, sheet) references tool_runner.sheets (workspace_id, name) on delete cascade
);

-- The execution log. Daily partitions, kept for 90 days.
create table tool_runner.executions (
  id uuid not null,
  parent_id uuid,
  workspace_id uuid not null,
  tool text not null,
  tool_version integer not null,
  entry_type text not null,
  chat_id text not null,
  caller_id text not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  success boolean not null,
  error text not null,
  args json not null,
  result json not null,
  read_only boolean not null,
  host_calls json not null default '[]',
  logs json not null default '[]',
  request_id text not null default '',
  primary key (id, started_at)
) partition by range (started_at);

create index executions_by_workspace on tool_runner.executions (workspace_id, started_at desc, id desc);
create index executions_by_tool on tool_runner.executions (workspace_id, tool, started_at desc, id desc);
create index executions_by_caller on tool_runner.executions (workspace_id, caller_id, started_at desc, id desc);
create index executions_by_chat on tool_runner.executions (workspace_id, chat_id, started_at desc, id desc);
create index executions_failed on tool_runner.executions (workspace_id, started_at desc, id desc) where not success;
-- Nearly all runs are by key; this index finds the others.
create index executions_by_other_entry on tool_runner.executions (workspace_id, entry_type, started_at desc, id desc)
  where entry_type <> 'api_key';
create index executions_by_request on tool_runner.executions (workspace_id, request_id) where request_id <> '';
create index executions_by_parent on tool_runner.executions (parent_id) where parent_id is not null;

-- The outcomes of calls with an idempotency key, kept for 24 hours. A result is sealed, because it is replayed unchanged
-- and so cannot be redacted.
create table tool_runner.idempotent_calls (
  key_id text not null,
  tool text not null,
  idempotency_key text not null,
  claimed_at timestamptz not null,
  body_hash bytea not null,
  -- interrupted: the process that ran it died, and what the run had done is unknown.
  state text not null check (state in ('running', 'ok', 'failed', 'interrupted')),
  lease_until timestamptz not null,
  execution_id text not null default '',
  duration_ms integer not null default 0,
  sealed_result bytea,
  primary key (key_id, tool, idempotency_key, claimed_at)
) partition by range (claimed_at);

-- The bytes of results that the calls of an API key have stored in an hour.
create table tool_runner.idempotent_bytes (
  key_id text not null,
  hour timestamptz not null,
  bytes bigint not null,
  primary key (key_id, hour)
) partition by range (hour);

-- Workspaces whose code has harmed a sandbox child.
create table tool_runner.sandbox_harm (
  workspace_id uuid primary key,
  harmed_at timestamptz not null,
  reason text not null
);

-- Events that not every listener has settled yet.
create table tool_runner.outbox (
  event_id text primary key,
  event bytea not null,
  publish_after timestamptz not null,
  settled_by text[] not null default '{}'
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create index outbox_by_publish_after on tool_runner.outbox (publish_after);

-- Audit entries on their way to the audit log. The relay takes the oldest first.
create table tool_runner.audit_outbox (
  id uuid primary key,
  at timestamptz not null,
  record bytea not null
);

create index audit_outbox_by_age on tool_runner.audit_outbox (at);

-- Messages that cannot be processed, kept for the operator.
create table tool_runner.parked_message (
  id bigint generated always as identity primary key,
  parked_at timestamptz not null,
  subject text not null,
  reason text not null,
  payload bytea not null
);
