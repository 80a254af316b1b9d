-- An incoming hook: a URL that triggers one tool or assistant of a workspace.
create table inbound_hook.hook (
  -- A random number below 2^53, so that it does not reveal how many hooks there are.
  id bigint primary key,
  workspace_id text collate "C" not null,
  -- The workspace's code.
  workspace text not null,
  name text not null,
  -- SHA-256 of the URL's last segment, hk_…
  url_hash bytea not null unique check (length(url_hash) = 32),
  -- The URL's last segment without most of its characters.
  shown_url text not null,
  format text not null check (format in ('native', 'processor', 'shop', 'bearer', 'github', 'standard_webhooks')),
  -- Only changes the names of headers.
  preset text check (preset in ('stripe', 'shopify')),
  target_kind text not null check (target_kind in ('tool', 'assistant')),
  target_name text not null,
  args_from text not null check (args_from in ('fields', 'mapping', 'payload')),
  -- Argument name to JSON Pointer; empty for 'fields'.
  pointers jsonb not null default '{}',
  call_limit integer not null check (call_limit between 1 and 10000),
  tolerance_seconds integer not null check (tolerance_seconds between 60 and 3600),
  -- Sealed; empty once the hook is deleted.
  secret bytea not null,
  active boolean not null default true,
  created_at timestamptz not null,
  deleted_at timestamptz,
  -- Of the last accepted call, written at most every few seconds.
  last_received_at timestamptz,
  -- Calls that failed verification since the last accepted one, and the time of the first of them.
  refused_in_a_row integer not null default 0,
  refused_since timestamptz,
  last_refused_at timestamptz,
  -- The refused_since that the workspace's admins were told about, and until when a process is telling them.
  notified_since timestamptz,
  notifying_until timestamptz
) with (fillfactor = 70);

create index hook_of_workspace on inbound_hook.hook (workspace_id) where deleted_at is null;
create index hook_created on inbound_hook.hook (workspace_id, created_at);
create index hook_refused on inbound_hook.hook (refused_since) where refused_since is not null;

-- An accepted call. The id is a UUID of version 7 whose time is created_at, so that the id alone gives the partition.
create table inbound_hook.delivery (
  created_at timestamptz not null,
  id uuid not null,
  workspace_id text collate "C" not null,
  hook_id bigint not null,
  -- The sender's own id; null when it sent none.
  external_id text,
  status text not null default 'waiting' check (status in ('waiting', 'running', 'succeeded', 'failed', 'interrupted')),
  -- The exact bytes.
  body bytea not null,
  content_type text not null,
  -- Headers with ids; never a signature or a token.
  headers jsonb not null,
  request_id text not null,
  -- How often the target was started or refused; each time has a row in run.
  runs smallint not null default 0,
  -- Of the last run.
  duration_ms integer not null default 0,
  error text not null default '',
  -- Email of the user who requested the last run; empty for the first one.
  requested_by text not null default '',
  -- Indexes contain this instead of the status, which changes twice in every run: while no index contains a changed column,
  -- Postgres need not rewrite the row's index entries.
  failure text generated always as (case when status in ('failed', 'interrupted') then status end) stored,
  -- W3C trace context of the call; empty when it was not traced. Its run continues the trace.
  traceparent text not null default '',
  tracestate text not null default '',
  primary key (created_at, id)
) partition by range (created_at);

-- The log is read newest first, which is by id: ids begin with the time.
create index delivery_newest on inbound_hook.delivery (workspace_id, id);
-- With created_at, a hook's deliveries of a day are counted in the index alone.
create index delivery_newest_of_hook on inbound_hook.delivery (hook_id, id) include (created_at);
create index delivery_by_request on inbound_hook.delivery (workspace_id, request_id, id);
create index delivery_by_external_id on inbound_hook.delivery (workspace_id, external_id, id) where external_id is not null;
-- These have few rows, far apart in the table, so the indexes include the columns that a search filters by.
create index delivery_failed on inbound_hook.delivery (workspace_id, failure, id)
  include (created_at, hook_id) where failure is not null;
create index delivery_failed_of_hook on inbound_hook.delivery (hook_id, failure, id)
  include (created_at, workspace_id) where failure is not null;

-- A run of a delivery's target; created_at is that of the delivery.
create table inbound_hook.run (
  created_at timestamptz not null,
  delivery_id uuid not null,
  number smallint not null,
  status text not null check (status in ('running', 'succeeded', 'failed', 'interrupted')),
  started_at timestamptz not null,
  duration_ms integer not null default 0,
  -- JSON text, secrets redacted.
  args text not null default '',
  result text not null default '',
  error text not null default '',
  execution_id text not null default '',
  chat_id text not null default '',
  -- Email of the user who requested it; empty for the first run.
  requested_by text not null default '',
  -- The claim that started it, so that a process whose claim got no response can undo it.
  claim_id uuid,
  primary key (created_at, delivery_id, number)
) partition by range (created_at);

-- What identifies an accepted call, hashed; kept as long as its delivery. Unique over all days, so not partitioned.
create table inbound_hook.replay_key (
  hook_id bigint not null,
  key bytea not null,
  delivery_id uuid not null,
  created_at timestamptz not null,
  primary key (hook_id, key)
);

create index replay_key_age on inbound_hook.replay_key (created_at);

-- A queue for each lane, as packages/postgres/src/fair-queue/tables.ts describes: a group is a workspace, a member a hook.
create table inbound_hook.tool_queue_group (
  group_id text collate "C" primary key,
  ready_at timestamptz not null default 'infinity',
  turn_at timestamptz not null default '-infinity',
  in_flight integer not null default 0 check (in_flight >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 1);

create index tool_queue_group_ready on inbound_hook.tool_queue_group (ready_at);

create table inbound_hook.tool_queue_member (
  group_id text collate "C" not null,
  member_id bigint not null,
  ready_at timestamptz not null,
  in_flight integer not null default 0 check (in_flight >= 0),
  failing boolean not null default false,
  progress_at timestamptz,
  primary key (group_id, member_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 1);

create table inbound_hook.tool_queue_item (
  item_id uuid primary key,
  group_id text collate "C" not null,
  member_id bigint not null,
  created_at timestamptz not null,
  due_at timestamptz not null,
  attempt integer not null default 1,
  lease_until timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 1);

create index tool_queue_item_waiting on inbound_hook.tool_queue_item (group_id, member_id, due_at, item_id) where lease_until is null;
create index tool_queue_item_leased on inbound_hook.tool_queue_item (lease_until) where lease_until is not null;

create table inbound_hook.assistant_queue_group (
  group_id text collate "C" primary key,
  ready_at timestamptz not null default 'infinity',
  turn_at timestamptz not null default '-infinity',
  in_flight integer not null default 0 check (in_flight >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 1);

create index assistant_queue_group_ready on inbound_hook.assistant_queue_group (ready_at);

create table inbound_hook.assistant_queue_member (
  group_id text collate "C" not null,
  member_id bigint not null,
  ready_at timestamptz not null,
  in_flight integer not null default 0 check (in_flight >= 0),
  failing boolean not null default false,
  progress_at timestamptz,
  primary key (group_id, member_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 1);

create table inbound_hook.assistant_queue_item (
  item_id uuid primary key,
  group_id text collate "C" not null,
  member_id bigint not null,
  created_at timestamptz not null,
  due_at timestamptz not null,
  attempt integer not null default 1,
  lease_until timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 1);

create index assistant_queue_item_waiting on inbound_hook.assistant_queue_item (group_id, member_id, due_at, item_id)
  where lease_until is null;
create index assistant_queue_item_leased on inbound_hook.assistant_queue_item (lease_until) where lease_until is not null;

-- Who changed what, on its way to the audit log.
create table inbound_hook.audit_outbox (
  id uuid primary key,
  at timestamptz not null,
  record bytea not null
);

create index audit_outbox_by_age on inbound_hook.audit_outbox (at);
