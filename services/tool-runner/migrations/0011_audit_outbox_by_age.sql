-- The relay takes the oldest entries first, and the metrics read how old they are.
create index audit_outbox_by_age on tool_runner.audit_outbox (at);
