-- An event that no listener settles is published again after waits that grow with its age.
alter table tool_runner.outbox add column accepted_at timestamptz not null default now();
