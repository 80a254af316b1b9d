-- no transaction
create index concurrently delivery_indexed_status_of_workspace on outbound_webhook.delivery (workspace_id, indexed_status, id)
  include (created_at, endpoint_id, event_type, kind) where indexed_status is not null;
create index concurrently delivery_indexed_status_of_endpoint on outbound_webhook.delivery (endpoint_id, indexed_status, id)
  include (created_at, workspace_id, event_type, kind) where indexed_status is not null;
