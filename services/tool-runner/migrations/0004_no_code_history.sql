-- Each workspace's code runs in a process of its own, so nothing has to be known about code before it runs.
drop table tool_runner.sandbox_harm;
alter table tool_runner.tool_versions drop column completed_at;
