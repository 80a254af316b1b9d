alter table outbound_webhook.event add column tracestate text not null default '';
