-- progress_at: when an endpoint last got a slot while it had none, or gave one back. usual_ms: how long it usually holds a
-- slot. They show that an endpoint hangs before its attempt times out.
alter table outbound_webhook.queue_member
  add column progress_at timestamptz,
  add column usual_ms integer not null default 0;
