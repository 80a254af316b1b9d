-- What a workspace says about its tools in the documents of its keys: an ApiDescription as JSON.
create table tool_runner.api_descriptions (
  workspace_id uuid primary key,
  about jsonb not null,
  saved_at timestamptz not null default now(),
  saved_by text not null
);
