-- When a workspace without a free slot may get one because endpoints have begun to hang; -infinity while it has one.
alter table outbound_webhook.queue_group add column slot_at timestamptz not null default '-infinity';
