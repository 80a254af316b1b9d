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

create table key_auth.memberships (
  user_id uuid not null references key_auth.users (id) on delete cascade,
  workspace_id uuid not null references key_auth.workspaces (id) on delete cascade,
  role text not null check (role in ('member', 'manager', 'admin')),
  primary key (user_id, workspace_id)
);

create index memberships_by_workspace on key_auth.memberships (workspace_id);

create table key_auth.sessions (
  token_hash bytea primary key,
  user_id uuid not null references key_auth.users (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index sessions_by_expiry on key_auth.sessions (expires_at);

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
  calls_total bigint not null default 0
) with (fillfactor = 80);

create index keys_by_workspace on key_auth.keys (workspace_id, created_at desc, id desc);

create table key_auth.api_key_requests (
  id uuid not null,
  key_id uuid not null,
  tool text not null,
  status smallint not null,
  duration_ms integer not null,
  ip text not null,
  at timestamptz not null,
  primary key (id, at)
) partition by range (at);

create index api_key_requests_by_key on key_auth.api_key_requests (key_id, at desc);
