-- Undelivered events are found by a query over deliveries instead of a table that triggers maintain.

-- An event that an endpoint did not get because it was inactive.
create table outbound_webhook.skipped_event (
  endpoint_id bigint not null,
  event_id text collate "C" not null,
  event_type text not null,
  event_at timestamptz not null,
  -- The time of the row in `event`.
  body_at timestamptz not null,
  -- A replay has sent it since, so its deliveries decide.
  sent boolean not null default false,
  primary key (endpoint_id, event_id)
);

insert into outbound_webhook.skipped_event (endpoint_id, event_id, event_type, event_at, body_at, sent)
select endpoint_id, event_id, event_type, event_at, body_at, cardinality(delivery_ids) > 0
from outbound_webhook.undelivered where met_inactive;

create index skipped_event_in_order on outbound_webhook.skipped_event (endpoint_id, event_at, event_id);
create index skipped_event_undelivered on outbound_webhook.skipped_event (endpoint_id, event_at, event_id) where not sent;
create index skipped_event_undelivered_of_type
  on outbound_webhook.skipped_event (endpoint_id, event_type, event_at, event_id) where not sent;
create index skipped_event_age on outbound_webhook.skipped_event (body_at);

alter table outbound_webhook.delivery
  -- The event's own time.
  add column event_at timestamptz,
  -- Whether it decides if its event is undelivered: the newest delivery of the event to the endpoint decides, unless one
  -- before it was delivered, and unless it is a test.
  add column decides boolean not null default true,
  -- Another delivery of the event to the endpoint had not ended when this one was made.
  add column beside_others boolean not null default false;

update outbound_webhook.delivery d set
  event_at = coalesce((select u.event_at from outbound_webhook.undelivered u
    where u.endpoint_id = d.endpoint_id and u.event_id = d.event_id), d.event_created_at),
  decides = d.kind <> 'test' and not exists (select from outbound_webhook.delivery o
    where o.event_id = d.event_id and o.endpoint_id = d.endpoint_id and o.kind <> 'test'
      and (o.id > d.id or (o.id < d.id and o.status = 'delivered')));

drop trigger note_skipped_event on outbound_webhook.event;
drop trigger note_repeated_delivery on outbound_webhook.delivery;
drop trigger note_ended_delivery on outbound_webhook.delivery;
drop function outbound_webhook.note_skipped_event, outbound_webhook.note_repeated_delivery,
  outbound_webhook.note_ended_delivery, outbound_webhook.time_of_event, outbound_webhook.event_time,
  outbound_webhook.latest_deliveries;
drop table outbound_webhook.undelivered;

alter table outbound_webhook.event drop column skipped_endpoints;
alter table outbound_webhook.delivery
  drop column repeated,
  alter column event_at set not null,
  -- Like `indexed_status`, it does not change when a delivery is delivered at the first attempt.
  add column undelivered boolean not null generated always as (decides and status in ('failed', 'cancelled')) stored;

create index delivery_undelivered on outbound_webhook.delivery (endpoint_id, event_at, event_id) where undelivered;
create index delivery_undelivered_of_type on outbound_webhook.delivery (endpoint_id, event_type, event_at, event_id)
  where undelivered;

-- The deliveries of a replay that have not been counted as ended: a bounded number.
alter table outbound_webhook.replay add column open_ids uuid[] not null default '{}';
update outbound_webhook.replay r set open_ids = array(
  select delivery_id from outbound_webhook.replay_delivery o where o.replay_id = r.id order by created_at, delivery_id);
drop table outbound_webhook.replay_delivery;
