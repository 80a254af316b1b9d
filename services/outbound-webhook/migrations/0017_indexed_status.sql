-- The status, while it is one that a search has an index for. PostgreSQL writes a row again to all indexes of its table when any
-- column that one of them names has changed; this one does not change when a delivery is delivered at the first attempt.
alter table outbound_webhook.delivery add column indexed_status text;

create function outbound_webhook.indexed_status(status text) returns text
language sql immutable parallel safe
as $$ select case when status in ('retrying', 'failed', 'cancelled') then status end $$;

create function outbound_webhook.note_indexed_status() returns trigger
language plpgsql set enable_seqscan = off
as $$
begin
  update outbound_webhook.delivery d set indexed_status = outbound_webhook.indexed_status(new.status)
  where d.created_at = new.created_at and d.id = new.id;
  return null;
end
$$;

-- For processes of the last version: this one writes the column with the status, and the condition is false then.
create trigger note_indexed_status after insert or update of status on outbound_webhook.delivery
  for each row when (new.indexed_status is distinct from outbound_webhook.indexed_status(new.status))
  execute function outbound_webhook.note_indexed_status();
