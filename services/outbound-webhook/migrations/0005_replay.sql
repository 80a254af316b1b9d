alter table outbound_webhook.delivery drop constraint delivery_kind_check;
alter table outbound_webhook.delivery add constraint delivery_kind_check
  check (kind in ('event', 'resend', 'test', 'replay')) not valid;

-- True if the event was sent again before this first delivery ended. Its success must then update `undelivered`.
alter table outbound_webhook.delivery add column repeated boolean not null default false;

-- Values are taken under the lock of the workspace's queue group, so that within a workspace they are in the order of the
-- commits.
create sequence outbound_webhook.undelivered_position;

-- The events that an endpoint should have received and did not, and those that were sent to it again. An event that is
-- delivered at the first attempt has no row. `sending`: a delivery is pending. The triggers below maintain the table.
create table outbound_webhook.undelivered (
  endpoint_id bigint not null,
  event_id text collate "C" not null,
  event_type text not null,
  event_at timestamptz not null,
  -- The time of the row in `event` with the latest copy of the bytes.
  body_at timestamptz not null,
  -- Time of the last delivery, or of the event when there was none.
  kept_from timestamptz not null,
  state text not null check (state in ('undelivered', 'sending', 'delivered', 'pulled')),
  -- The endpoint was inactive when the event arrived, so there is no first delivery.
  met_inactive boolean not null default false,
  -- Null: it was never undelivered.
  reason text check (reason in ('failed', 'cancelled', 'skipped')),
  error text not null default '',
  response_code smallint not null default 0,
  undelivered_at timestamptz,
  delivery_ids uuid[] not null default '{}',
  position bigint not null default nextval('outbound_webhook.undelivered_position'),
  -- When it last left the state `undelivered`.
  left_at timestamptz,
  pulled_at timestamptz,
  pulled_by text not null default '',
  primary key (endpoint_id, event_id)
);

create function outbound_webhook.latest_deliveries(ids uuid[]) returns uuid[]
language sql immutable parallel safe
as $$
  select ids[greatest(cardinality(ids) - 9, 1):]
$$;

create index undelivered_in_order on outbound_webhook.undelivered (endpoint_id, event_at, event_id);
create index undelivered_now on outbound_webhook.undelivered (endpoint_id, event_at, event_id)
  where state = 'undelivered';
create index undelivered_of_type on outbound_webhook.undelivered (endpoint_id, event_type, event_at, event_id)
  where state = 'undelivered';
create index undelivered_to_pull on outbound_webhook.undelivered (endpoint_id, position) where state = 'undelivered';
create index undelivered_pulled on outbound_webhook.undelivered (endpoint_id, pulled_at, event_id)
  where state = 'pulled';
create index undelivered_age on outbound_webhook.undelivered (kept_from);

-- The time in the body: an event too late for its partition is stored under the time of its arrival.
create function outbound_webhook.event_time(body bytea, kept_at timestamptz) returns timestamptz
language sql stable parallel safe
as $$
  select least(kept_at, substring(encode(substring(body from 1 for 2048), 'escape')
    from '"created":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"')::timestamptz)
$$;

create function outbound_webhook.note_skipped_event() returns trigger
language plpgsql
as $$
begin
  insert into outbound_webhook.undelivered
    (endpoint_id, event_id, event_type, event_at, body_at, kept_from, state, met_inactive, reason, undelivered_at)
  select endpoint_id, new.id, new.type, outbound_webhook.event_time(new.body, new.created_at), new.created_at,
    new.created_at, 'undelivered', true, 'skipped', new.created_at
  from unnest(new.skipped_endpoints) as skipped (endpoint_id)
  on conflict do nothing;
  return null;
end
$$;

create trigger note_skipped_event after insert on outbound_webhook.event
  for each row when (new.skipped_endpoints is not null)
  execute function outbound_webhook.note_skipped_event();

create function outbound_webhook.time_of_event(event_id text, kept_at timestamptz) returns timestamptz
language plpgsql stable set enable_seqscan = off
as $$
declare
  own_at timestamptz;
begin
  select outbound_webhook.event_time(e.body, kept_at) into own_at
  from outbound_webhook.event e where e.created_at = kept_at and e.id = event_id;
  return coalesce(own_at, kept_at);
end
$$;

-- Connections keep the plans of these functions, also those made while the tables were short: hence enable_seqscan = off.
-- An event that is sent again has the state `sending`, unless it was pulled.
create function outbound_webhook.note_repeated_delivery() returns trigger
language plpgsql set enable_seqscan = off
as $$
declare
  first_kept_at timestamptz;
  ids uuid[];
begin
  update outbound_webhook.undelivered u set
    state = case when u.state = 'pulled' then u.state else 'sending' end,
    left_at = case when u.state = 'undelivered' then new.created_at else u.left_at end,
    body_at = new.event_created_at,
    kept_from = new.created_at,
    delivery_ids = outbound_webhook.latest_deliveries(u.delivery_ids || new.id)
  where u.endpoint_id = new.endpoint_id and u.event_id = new.event_id;
  if found then
    return null;
  end if;
  select min(d.event_created_at), outbound_webhook.latest_deliveries(array_agg(d.id order by d.created_at, d.id))
  into first_kept_at, ids
  from outbound_webhook.delivery d
  where d.event_id = new.event_id and d.endpoint_id = new.endpoint_id and d.kind <> 'test';
  insert into outbound_webhook.undelivered
    (endpoint_id, event_id, event_type, event_at, body_at, kept_from, state, delivery_ids)
  values (new.endpoint_id, new.event_id, new.event_type,
    outbound_webhook.time_of_event(new.event_id, first_kept_at), new.event_created_at, new.created_at, 'sending', ids);
  update outbound_webhook.delivery d set repeated = true
  where d.event_id = new.event_id and d.endpoint_id = new.endpoint_id and d.kind = 'event'
    and d.status in ('pending', 'retrying');
  return null;
end
$$;

create trigger note_repeated_delivery after insert on outbound_webhook.delivery
  for each row when (new.kind in ('resend', 'replay'))
  execute function outbound_webhook.note_repeated_delivery();

-- An event that was never sent again has one delivery, and its status decides. Otherwise all its deliveries are counted.
create function outbound_webhook.note_ended_delivery() returns trigger
language plpgsql set enable_seqscan = off
as $$
declare
  first_at timestamptz;
  now_state text;
begin
  if new.kind = 'event' and new.status <> 'delivered' and not new.repeated then
    insert into outbound_webhook.undelivered
      (endpoint_id, event_id, event_type, event_at, body_at, kept_from, state, reason, error, response_code,
       undelivered_at, delivery_ids)
    values (new.endpoint_id, new.event_id, new.event_type,
      outbound_webhook.time_of_event(new.event_id, new.event_created_at), new.event_created_at, new.created_at,
      'undelivered', new.status, new.error, new.response_code, new.finished_at, array[new.id])
    on conflict do nothing;
    if found then
      return null;
    end if;
  end if;
  select u.event_at into first_at from outbound_webhook.undelivered u
  where u.endpoint_id = new.endpoint_id and u.event_id = new.event_id;
  -- The time excludes older partitions; it allows for clocks that are fast by a day.
  select case when bool_or(d.status = 'delivered') then 'delivered'
      when bool_or(d.status in ('pending', 'retrying')) then 'sending'
      else 'undelivered' end
  into now_state
  from outbound_webhook.delivery d
  where d.event_id = new.event_id and d.endpoint_id = new.endpoint_id and d.kind <> 'test'
    and d.created_at >= first_at - interval '2 days';
  if now_state = 'undelivered' then
    update outbound_webhook.undelivered u set
      state = case when u.state = 'pulled' then u.state else now_state end,
      reason = new.status, error = new.error, response_code = new.response_code, undelivered_at = new.finished_at,
      position = nextval('outbound_webhook.undelivered_position')
    where u.endpoint_id = new.endpoint_id and u.event_id = new.event_id;
  else
    update outbound_webhook.undelivered u set state = now_state
    where u.endpoint_id = new.endpoint_id and u.event_id = new.event_id and u.state <> 'pulled';
  end if;
  return null;
end
$$;

create trigger note_ended_delivery after update of status on outbound_webhook.delivery
  for each row when (new.status is distinct from old.status and new.kind <> 'test'
    and (new.status in ('failed', 'cancelled') or (new.status = 'delivered' and (new.kind <> 'event' or new.repeated))))
  execute function outbound_webhook.note_ended_delivery();

-- The smallest id of a delivery made then or later.
create function outbound_webhook.first_delivery_id(at timestamptz) returns uuid
language sql stable parallel safe
as $$
  select (lpad(to_hex(ceil(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

create table outbound_webhook.replay (
  id bigint generated always as identity primary key,
  workspace_id text collate "C" not null,
  endpoint_id bigint not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  -- Null: all.
  types text[],
  -- Also delivered events.
  everything boolean not null,
  rate_per_second integer not null,
  events_at_start integer not null,
  more_at_start boolean not null,
  started_at timestamptz not null,
  started_by text not null,
  state text not null default 'running' check (state in ('running', 'done', 'cancelled')),
  -- The last row of the range that was read: its time, and the id of the event or of its first delivery.
  cursor_at timestamptz not null,
  cursor_id text collate "C" not null default '',
  -- Whether the end of the range is reached.
  walked boolean not null default false,
  considered integer not null default 0,
  sent integer not null default 0,
  delivered integer not null default 0,
  failed integer not null default 0,
  skipped integer not null default 0,
  cancelled integer not null default 0,
  -- Null once there is nothing left to do.
  next_step_at timestamptz,
  finished_at timestamptz,
  cancelled_by text not null default ''
) with (fillfactor = 50);

create unique index replay_running on outbound_webhook.replay (endpoint_id) where state = 'running';
create index replay_due on outbound_webhook.replay (next_step_at) where next_step_at is not null;
create index replay_of_workspace on outbound_webhook.replay (workspace_id, id);
create index replay_of_endpoint on outbound_webhook.replay (endpoint_id, id);
create index replay_age on outbound_webhook.replay ((coalesce(finished_at, started_at)));

-- The deliveries of replays that have not been counted as ended: a bounded number for each.
create table outbound_webhook.replay_delivery (
  replay_id bigint not null,
  created_at timestamptz not null,
  delivery_id uuid not null,
  primary key (replay_id, delivery_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
