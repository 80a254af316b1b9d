-- Who changed what, on its way to the audit log.
create table outbound_webhook.audit_outbox (
  id uuid primary key,
  at timestamptz not null,
  record bytea not null
);
