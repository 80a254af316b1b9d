-- How many slots each endpoint of a workspace has, as its admins have chosen; null: the operator's default.
alter table outbound_webhook.queue_group add column per_member integer check (per_member between 1 and 1000);
