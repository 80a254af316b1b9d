-- Which tools' completions an endpoint gets (empty: all), and the headers that its deliveries have in addition: sealed, and by name.
alter table outbound_webhook.endpoint
  add column tools text[] not null default '{}',
  add column sealed_headers bytea,
  add column header_names text[] not null default '{}';
