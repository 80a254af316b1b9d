-- Audit entries on their way to the audit log.
create table tool_runner.audit_outbox (
  id uuid primary key,
  at timestamptz not null,
  record bytea not null
);
