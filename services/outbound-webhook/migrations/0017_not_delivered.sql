-- The status, while it is one that a search has an index for. PostgreSQL writes a row again to all indexes of its table when any
-- column that one of them names has changed; this one does not change when a delivery is delivered at the first attempt.
alter table outbound_webhook.delivery add column not_delivered text;

create function outbound_webhook.not_delivered(status text) returns text
language sql immutable parallel safe
as $$ select case when status in ('retrying', 'failed', 'cancelled') then status end $$;

create function outbound_webhook.note_not_delivered() returns trigger
language plpgsql set enable_seqscan = off
as $$
begin
  update outbound_webhook.delivery d set not_delivered = outbound_webhook.not_delivered(new.status)
  where d.created_at = new.created_at and d.id = new.id;
  return null;
end
$$;

-- A trigger, so that processes of the last version maintain it too.
create trigger note_not_delivered after insert or update of status on outbound_webhook.delivery
  for each row when (new.not_delivered is distinct from outbound_webhook.not_delivered(new.status))
  execute function outbound_webhook.note_not_delivered();

update outbound_webhook.delivery set not_delivered = status where status in ('retrying', 'failed', 'cancelled');
