-- Changes of tools that the builder assistant has proposed. Only the user may confirm one, once, until it expires, and while
-- the tool is as it was.
create table tool_runner.proposals (
  id uuid primary key,
  workspace_id uuid not null,
  user_id text not null,
  chat_id text not null,
  tool text not null,
  -- The version that it changes.
  base_version integer not null,
  -- The whole new definition.
  definition jsonb not null,
  -- SHA-256 of the tool's name, the version and both definitions.
  change_hash bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- The version that confirming it has saved.
  saved_version integer
);

create index proposals_of_chat on tool_runner.proposals (workspace_id, chat_id, created_at);
create index proposals_by_age on tool_runner.proposals (created_at);
