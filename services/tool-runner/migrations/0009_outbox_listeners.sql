-- The listeners that have reported an event as settled, while others have not.
alter table tool_runner.outbox add settled_by text[] not null default '{}';
