create index endpoint_deleted on outbound_webhook.endpoint (deleted_at) where deleted_at is not null;
