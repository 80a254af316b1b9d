-- False while an item is sent after another one of its endpoint, in the slot that that one holds.
alter table outbound_webhook.queue_item drop column message_id, add column holds_slot boolean not null default true;
