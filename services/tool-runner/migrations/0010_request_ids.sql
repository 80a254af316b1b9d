alter table tool_runner.executions add column request_id text not null default '';

create index executions_by_request on tool_runner.executions (workspace_id, request_id) where request_id <> '';
