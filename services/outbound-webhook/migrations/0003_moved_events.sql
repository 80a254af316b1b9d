-- Events that were too late or too early for the partition of their own time, and are stored under the time of their
-- arrival.
create table outbound_webhook.moved_event (
  id text collate "C" primary key,
  stored_at timestamptz not null
);

create index moved_event_age on outbound_webhook.moved_event (stored_at);
