create table tool_runner.tools (
  workspace_id uuid not null,
  name text not null,
  version integer not null,
  deleted_at timestamptz,
  primary key (workspace_id, name)
);

create table tool_runner.tool_versions (
  workspace_id uuid not null,
  name text not null,
  version integer not null,
  definition jsonb not null,
  saved_at timestamptz not null default now(),
  saved_by text not null,
  primary key (workspace_id, name, version),
  foreign key (workspace_id, name) references tool_runner.tools (workspace_id, name) on delete cascade
);

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
  primary key (id, started_at)
) partition by range (started_at);

create index executions_by_workspace on tool_runner.executions (workspace_id, started_at desc, id desc);
create index executions_by_parent on tool_runner.executions (parent_id) where parent_id is not null;

create table tool_runner.outbox (
  event_id text primary key,
  event bytea not null,
  publish_after timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create index outbox_by_publish_after on tool_runner.outbox (publish_after);
