-- Events too late or too early for the partitions: kept under the time of their arrival. Their ids say that they are there.
create table outbound_webhook.moved_event (
  id text collate "C" primary key,
  stored_at timestamptz not null
);

create index moved_event_age on outbound_webhook.moved_event (stored_at);
