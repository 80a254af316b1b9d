create table key_auth.workspaces (
  id uuid primary key,
  code text not null unique check (code ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  locked boolean not null default false,
  created_at timestamptz not null default now()
);

create table key_auth.users (
  id uuid primary key,
  email text not null unique check (email = lower(email)),
  password_hash text not null,
  created_at timestamptz not null default now()
);

-- Which role a user has in a workspace.
create table key_auth.memberships (
  user_id uuid not null references key_auth.users (id) on delete cascade,
  workspace_id uuid not null references key_auth.workspaces (id) on delete cascade,
  role text not null check (role in ('member', 'manager', 'admin')),
  primary key (user_id, workspace_id)
);

create index memberships_by_workspace on key_auth.memberships (workspace_id);

-- Sign-ins. One with a JWT has no token of its own.
create table key_auth.sessions (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea constraint sessions_token_hash unique,
  user_id uuid not null references key_auth.users (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index sessions_by_user on key_auth.sessions (user_id);
create index sessions_by_expiry on key_auth.sessions (expires_at);

-- The keys that sign JWTs, principals and grants.
create table key_auth.signing_keys (
  kid text primary key,
  public_jwk jsonb not null,
  sealed_private_key bytea not null,
  created_at timestamptz not null
);

-- API keys. The previous secret is valid for an overlap after a rotation.
create table key_auth.keys (
  id uuid primary key,
  workspace_id uuid not null references key_auth.workspaces (id) on delete cascade,
  name text not null,
  secret_hash bytea not null unique check (length(secret_hash) = 32),
  prefix text not null,
  tools text[] not null,
  call_limit integer not null check (call_limit between 1 and 10000),
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default now(),
  created_by text not null,
  last_used_at timestamptz,
  calls_total bigint not null default 0,
  allowed_networks text[] not null default '{}',
  previous_secret_hash bytea check (length(previous_secret_hash) = 32),
  previous_secret_valid_until timestamptz,
  constraint previous_secret_whole check ((previous_secret_hash is null) = (previous_secret_valid_until is null))
) with (fillfactor = 80);

-- Last use and total have no index on purpose: they change with every batch of calls, and would make each of these
-- updates rewrite every index entry of the key. Lists in these orders sort the keys of one workspace.
create index keys_by_workspace on key_auth.keys (workspace_id, created_at desc, id desc);
create index keys_by_name on key_auth.keys (workspace_id, (lower(name) collate "C"), id);
create unique index keys_by_previous_secret on key_auth.keys (previous_secret_hash)
  where previous_secret_hash is not null;

-- The usage log. Daily partitions, kept for 90 days. The status makes counting an index-only scan.
create table key_auth.api_key_requests (
  id uuid not null,
  key_id uuid not null,
  tool text not null,
  status smallint not null,
  duration_ms integer not null,
  ip text not null,
  at timestamptz not null,
  request_id text not null default '',
  primary key (id, at)
) partition by range (at);

create index api_key_requests_by_key_and_status on key_auth.api_key_requests (key_id, at desc) include (status);
create index api_key_requests_by_request on key_auth.api_key_requests (key_id, request_id) where request_id <> '';

-- Calls per minute and per hour, so that the calls of the last day are counted without reading the day.
create table key_auth.api_key_request_counts (
  key_id uuid not null,
  width_s smallint not null check (width_s in (60, 3600)),
  start timestamptz not null,
  calls integer not null,
  primary key (key_id, width_s, start)
) partition by range (start);

-- Who did what, kept for two years.
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

-- Messages that cannot be processed, kept for the operator.
create table key_auth.parked_message (
  id bigint generated always as identity primary key,
  parked_at timestamptz not null,
  subject text not null,
  reason text not null,
  payload bytea not null
);
