alter table tool_runner.executions
  add column host_calls json not null default '[]',
  add column logs json not null default '[]';

create index executions_by_tool on tool_runner.executions (workspace_id, tool, started_at desc, id desc);
create index executions_by_caller on tool_runner.executions (workspace_id, caller_id, started_at desc, id desc);
create index executions_by_chat on tool_runner.executions (workspace_id, chat_id, started_at desc, id desc);
create index executions_failed on tool_runner.executions (workspace_id, started_at desc, id desc) where not success;
-- Nearly all runs are by key; this index finds the others.
create index executions_by_other_entry on tool_runner.executions (workspace_id, entry_type, started_at desc, id desc)
  where entry_type <> 'api_key';
