/** The tables of a fair queue, as every migration has them. */
export function fairQueueTables(tables: string): string {
  const prefix = tables.slice(tables.indexOf(".") + 1);
  return `create table ${tables}_group (
  group_id text collate "C" primary key,
  ready_at timestamptz not null default 'infinity',
  turn_at timestamptz not null default '-infinity',
  in_flight integer not null default 0 check (in_flight >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 1);

create index ${prefix}_group_ready on ${tables}_group (ready_at);

create table ${tables}_member (
  group_id text collate "C" not null,
  member_id bigint not null,
  ready_at timestamptz not null,
  in_flight integer not null default 0 check (in_flight >= 0),
  failing boolean not null default false,
  progress_at timestamptz,
  primary key (group_id, member_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 1);

create table ${tables}_item (
  item_id uuid primary key,
  group_id text collate "C" not null,
  member_id bigint not null,
  created_at timestamptz not null,
  due_at timestamptz not null,
  attempt integer not null default 1,
  lease_until timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 1);

create index ${prefix}_item_waiting on ${tables}_item (group_id, member_id, due_at, item_id) where lease_until is null;
create index ${prefix}_item_leased on ${tables}_item (lease_until) where lease_until is not null;
`;
}
