-- The log is read newest first, by id, because ids begin with the time. All indexes end in the id, so that no plan
-- reads rows of other workspaces to sort them.
create index delivery_newest_of_endpoint on outbound_webhook.delivery (endpoint_id, id);
create index delivery_newest_of_type on outbound_webhook.delivery (workspace_id, (event_type collate "C"), id);
drop index outbound_webhook.delivery_of_workspace;
drop index outbound_webhook.delivery_of_endpoint;

-- The workspace's log in two halves, so that all custom types can be read together. Each row is in one of them.
create index delivery_newest_custom on outbound_webhook.delivery (workspace_id, id)
  where starts_with(event_type, 'custom.');
create index delivery_newest_not_custom on outbound_webhook.delivery (workspace_id, id)
  where not starts_with(event_type, 'custom.');

-- These have few rows, since a delivery that succeeds at the first attempt is never in them. The rows are far apart in
-- the table, so the index includes the columns that a search filters by.
create index delivery_not_delivered on outbound_webhook.delivery (workspace_id, status, id)
  include (created_at, endpoint_id, event_type, kind) where status in ('retrying', 'failed', 'cancelled');
create index delivery_not_delivered_to on outbound_webhook.delivery (endpoint_id, status, id)
  include (created_at, workspace_id, event_type, kind) where status in ('retrying', 'failed', 'cancelled');
create index delivery_on_demand on outbound_webhook.delivery (workspace_id, kind, id) where kind <> 'event';

-- The time in the signature, which differs from the start of the attempt. Null for attempts made before this migration.
alter table outbound_webhook.attempt add column signed_at timestamptz;

-- Signatures from before this time were made with another secret.
alter table outbound_webhook.endpoint add column secret_replaced_at timestamptz;
