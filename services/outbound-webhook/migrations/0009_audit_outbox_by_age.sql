-- The relay takes the oldest entries first, and the metrics read how old they are.
create index audit_outbox_by_age on outbound_webhook.audit_outbox (at);
