const TABLES_NAME = /^[a-z_][a-z0-9_]{0,40}\.[a-z_][a-z0-9_]{0,40}$/;

/** Throws unless it is a plain lower-case schema and prefix (`outbound_webhook.queue`), as it becomes part of statements. */
export function assertTablesName(tables: string): void {
  if (!TABLES_NAME.test(tables))
    throw new TypeError(`"${tables}" is not a valid schema and prefix of a queue's tables`);
}

/**
 * The tables of a two-level fair queue, as text for a migration of the service that owns them. `tables` is their
 * schema and prefix: `outbound_webhook.queue` gives `outbound_webhook.queue_item`.
 *
 * - `queue_group`, the unit of fairness (a workspace): one row per group that ever had work. `ready_at` is the earliest
 *   time at which the group may have a claimable item, or infinity; claims serve groups in that order. Every
 *   transaction that writes the group's members or items holds the lock of this row.
 * - `queue_member` (an endpoint, a hook): `ready_at` is when its oldest waiting item is due, or earlier.
 *   `progress_at` is when it last got a slot. Claims read all members of a group, so a group should have tens of them,
 *   not thousands.
 * - `queue_item`: outstanding work only, one row per item, deleted when the item is finished. `lease_until` is null
 *   while it waits. `created_at` is for the owner, whose own row may be in a partition.
 *
 * The rows are few and change all the time, hence the low fillfactor and the early vacuum.
 */
export function fairQueueTables(tables: string): string {
  assertTablesName(tables);
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
