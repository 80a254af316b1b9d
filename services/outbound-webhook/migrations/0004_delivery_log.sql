-- The log is read newest first, which is by id: ids begin with the time. Indexes that end in the id serve this and no
-- other order, so that no plan walks over other workspaces' rows.
create index delivery_newest_of_endpoint on outbound_webhook.delivery (endpoint_id, id);
create index delivery_newest_of_type on outbound_webhook.delivery (workspace_id, (event_type collate "C"), id);
drop index outbound_webhook.delivery_of_workspace;
drop index outbound_webhook.delivery_of_endpoint;

-- The workspace's log in two halves, so that all custom types are found together. Each row is in one of them.
create index delivery_newest_custom on outbound_webhook.delivery (workspace_id, id)
  where starts_with(event_type, 'custom.');
create index delivery_newest_not_custom on outbound_webhook.delivery (workspace_id, id)
  where not starts_with(event_type, 'custom.');

-- Few rows each: a delivery that succeeds at once never enters them. They lie far apart in the table, so what a search
-- may ask of them is in the index.
create index delivery_not_delivered on outbound_webhook.delivery (workspace_id, status, id)
  include (created_at, endpoint_id, event_type, kind) where status in ('retrying', 'failed', 'cancelled');
create index delivery_not_delivered_to on outbound_webhook.delivery (endpoint_id, status, id)
  include (created_at, workspace_id, event_type, kind) where status in ('retrying', 'failed', 'cancelled');
create index delivery_on_demand on outbound_webhook.delivery (workspace_id, kind, id) where kind <> 'event';

-- The time in the signature, which is not that of the attempt's start. Null for attempts made before.
alter table outbound_webhook.attempt add column signed_at timestamptz;

-- Signatures from before were made with another secret.
alter table outbound_webhook.endpoint add column secret_replaced_at timestamptz;
