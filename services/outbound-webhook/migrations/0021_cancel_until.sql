-- When the endpoint was last deactivated or deleted, until its deliveries made until then that still wait are cancelled.
alter table outbound_webhook.endpoint add column cancel_until timestamptz;

create index endpoint_to_cancel on outbound_webhook.endpoint (workspace_id, id) where cancel_until is not null;
