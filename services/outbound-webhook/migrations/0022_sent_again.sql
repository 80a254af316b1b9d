-- How often the event was sent again. The service refuses to do it without limit, because the end of each delivery reads all
-- deliveries of its event.
alter table outbound_webhook.undelivered add column sent_again integer not null default 0;

create or replace function outbound_webhook.note_repeated_delivery() returns trigger
language plpgsql set enable_seqscan = off
as $$
declare
  first_kept_at timestamptz;
  ids uuid[];
begin
  update outbound_webhook.undelivered u set
    state = case when u.state = 'pulled' then u.state else 'sending' end,
    left_at = case when u.state = 'undelivered' then new.created_at else u.left_at end,
    body_at = new.event_created_at,
    kept_from = new.created_at,
    delivery_ids = outbound_webhook.latest_deliveries(u.delivery_ids || new.id),
    sent_again = u.sent_again + 1
  where u.endpoint_id = new.endpoint_id and u.event_id = new.event_id;
  if found then
    return null;
  end if;
  select min(d.event_created_at), outbound_webhook.latest_deliveries(array_agg(d.id order by d.created_at, d.id))
  into first_kept_at, ids
  from outbound_webhook.delivery d
  where d.event_id = new.event_id and d.endpoint_id = new.endpoint_id and d.kind <> 'test';
  insert into outbound_webhook.undelivered
    (endpoint_id, event_id, event_type, event_at, body_at, kept_from, state, delivery_ids, sent_again)
  values (new.endpoint_id, new.event_id, new.event_type,
    outbound_webhook.time_of_event(new.event_id, first_kept_at), new.event_created_at, new.created_at, 'sending', ids, 1);
  update outbound_webhook.delivery d set repeated = true
  where d.event_id = new.event_id and d.endpoint_id = new.endpoint_id and d.kind = 'event'
    and d.status in ('pending', 'retrying');
  return null;
end
$$;
