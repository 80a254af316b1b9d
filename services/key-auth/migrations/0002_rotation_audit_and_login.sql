alter table key_auth.keys
  add column allowed_networks text[] not null default '{}',
  add column previous_secret_hash bytea check (length(previous_secret_hash) = 32),
  add column previous_secret_valid_until timestamptz,
  add constraint previous_secret_whole check ((previous_secret_hash is null) = (previous_secret_valid_until is null));

create unique index keys_by_previous_secret on key_auth.keys (previous_secret_hash)
  where previous_secret_hash is not null;

-- Last use and total have no index on purpose: they change with every batch of calls, and would make each of these
-- updates rewrite every index entry of the key. Lists in these orders sort the keys of one workspace.
create index keys_by_name on key_auth.keys (workspace_id, (lower(name) collate "C"), id);

alter table key_auth.sessions
  add column id uuid not null default gen_random_uuid(),
  drop constraint sessions_pkey,
  add primary key (id),
  alter column token_hash drop not null,
  add constraint sessions_token_hash unique (token_hash);

create index sessions_by_user on key_auth.sessions (user_id);

create table key_auth.signing_keys (
  kid text primary key,
  public_jwk jsonb not null,
  sealed_private_key bytea not null,
  created_at timestamptz not null
);

create table key_auth.audit_entries (
  id uuid primary key,
  workspace_id uuid not null references key_auth.workspaces (id) on delete cascade,
  at timestamptz not null,
  actor_id uuid,
  actor text not null,
  action text not null,
  target_id text not null,
  target text not null,
  changes jsonb not null
);

create index audit_entries_by_workspace on key_auth.audit_entries (workspace_id, at desc, id desc);
create index audit_entries_by_age on key_auth.audit_entries (at);

-- The status makes counting an index-only scan.
create index api_key_requests_by_key_and_status on key_auth.api_key_requests (key_id, at desc) include (status);
drop index key_auth.api_key_requests_by_key;

-- Calls per minute and per hour, so that the calls of the last day are counted without reading the day.
create table key_auth.api_key_request_counts (
  key_id uuid not null,
  width_s smallint not null check (width_s in (60, 3600)),
  start timestamptz not null,
  calls integer not null,
  primary key (key_id, width_s, start)
) partition by range (start);

do $$
declare
  day date;
begin
  foreach day in array array[(now() at time zone 'utc')::date - 1, (now() at time zone 'utc')::date] loop
    execute format(
      'create table key_auth.api_key_request_counts_%s partition of key_auth.api_key_request_counts
       for values from (%L) to (%L)',
      to_char(day, 'YYYYMMDD'), to_char(day, 'YYYY-MM-DD"T00:00:00Z"'), to_char(day + 1, 'YYYY-MM-DD"T00:00:00Z"'));
  end loop;
end $$;

insert into key_auth.api_key_request_counts (key_id, width_s, start, calls)
select key_id, width.s, to_timestamp(floor(extract(epoch from at) / width.s) * width.s) as start, count(*)
from key_auth.api_key_requests cross join (values (60), (3600)) as width (s)
where status <> 429 and at > now() - interval '24 hours' and at < date_trunc('day', now(), 'UTC') + interval '1 day'
group by 1, 2, 3;
