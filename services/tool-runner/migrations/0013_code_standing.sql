-- When a run of this version, or of an earlier one with the same code, first ended by itself.
alter table tool_runner.tool_versions add column completed_at timestamptz;
update tool_runner.tool_versions v set completed_at = v.saved_at
  from tool_runner.tools t
  where t.workspace_id = v.workspace_id and t.name = v.name and t.version = v.version;

-- Workspaces whose code has harmed a sandbox child.
create table tool_runner.sandbox_harm (
  workspace_id uuid primary key,
  harmed_at timestamptz not null,
  reason text not null
);
