create table tool_runner.secrets (
  workspace_id uuid not null,
  name text not null,
  sealed_value bytea not null,
  hosts text[] not null,
  saved_at timestamptz not null default now(),
  saved_by text not null,
  primary key (workspace_id, name)
);

create table tool_runner.variables (
  workspace_id uuid not null,
  name text not null,
  value text not null,
  saved_at timestamptz not null default now(),
  saved_by text not null,
  primary key (workspace_id, name)
);
