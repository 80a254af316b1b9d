-- no transaction
create index concurrently delivery_not_delivered_of_workspace on outbound_webhook.delivery (workspace_id, not_delivered, id)
  include (created_at, endpoint_id, event_type, kind) where not_delivered is not null;
create index concurrently delivery_not_delivered_of_endpoint on outbound_webhook.delivery (endpoint_id, not_delivered, id)
  include (created_at, workspace_id, event_type, kind) where not_delivered is not null;
