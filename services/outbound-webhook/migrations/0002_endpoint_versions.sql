-- Which edit of an endpoint is the latest, and whose, so that nobody overwrites an edit that they have not seen.
alter table outbound_webhook.endpoint
  add column version integer not null default 1,
  add column saved_by text not null default '',
  -- Null until the first edit after the update.
  add column saved_at timestamptz;
