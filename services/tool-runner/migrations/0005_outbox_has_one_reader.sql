-- The fan-out is the only reader of events, so its settled notice alone deletes an event.
alter table tool_runner.outbox drop column settled_by;
