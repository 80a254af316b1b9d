-- W3C trace context of the call; empty when it was not traced. Its run continues the trace.
alter table inbound_hook.delivery
  add column traceparent text not null default '',
  add column tracestate text not null default '';
