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
  usual_ms integer not null default 0,
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
  usual_ms integer not null default 0,
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
