alter table outbound_webhook.event
  add column request_id text not null default '',
  add column traceparent text not null default '';

create index event_of_request on outbound_webhook.event (workspace_id, request_id) where request_id <> '';
