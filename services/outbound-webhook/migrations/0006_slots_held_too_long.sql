-- progress_at: when an endpoint last freed a slot, or got one while it had none. usual_ms: how long it usually holds a
-- slot. They show that an endpoint hangs before its attempt times out.
alter table outbound_webhook.queue_member
  add column progress_at timestamptz,
  add column usual_ms integer not null default 0;
