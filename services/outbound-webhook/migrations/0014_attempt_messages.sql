-- The message in which a leased delivery's attempt was sent to the workers, or was to be sent.
alter table outbound_webhook.queue_item add column message_id text;
