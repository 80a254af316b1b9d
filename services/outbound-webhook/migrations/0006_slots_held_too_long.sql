-- When an endpoint last got a slot while it had none or gave one back, and how long it usually holds one: an endpoint that
-- hangs is told from its siblings before its attempt has run out of time.
alter table outbound_webhook.queue_member
  add column progress_at timestamptz,
  add column usual_ms integer not null default 0;
