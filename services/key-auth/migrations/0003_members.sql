-- From which device and network a session was started, and when it was last used, to the nearest five minutes.
alter table key_auth.sessions
  add column device text not null default '',
  add column address text not null default '',
  add column last_used_at timestamptz not null default now();

-- Who may join a workspace, by a link whose token is stored as a hash.
create table key_auth.invitations (
  id uuid primary key,
  workspace_id uuid not null references key_auth.workspaces (id) on delete cascade,
  email text not null check (email = lower(email)),
  role text not null check (role in ('member', 'manager', 'admin')),
  token_hash bytea not null unique check (length(token_hash) = 32),
  created_at timestamptz not null,
  creator_id uuid not null,
  creator text not null,
  expires_at timestamptz not null,
  unique (workspace_id, email)
);

-- Who may choose a new password, by a link.
create table key_auth.password_links (
  user_id uuid primary key references key_auth.users (id) on delete cascade,
  token_hash bytea not null unique check (length(token_hash) = 32),
  creator_id uuid not null,
  expires_at timestamptz not null
);
