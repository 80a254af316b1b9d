-- no transaction
-- Random ids have no order, so lists are in the order of the starts.
create index concurrently replay_of_workspace_by_start on outbound_webhook.replay (workspace_id, started_at, id);
create index concurrently replay_of_endpoint_by_start on outbound_webhook.replay (endpoint_id, started_at, id);
