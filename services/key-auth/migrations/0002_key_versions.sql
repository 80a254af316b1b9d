-- Each edit of a key raises its version, so that two people do not overwrite each other's. Before the first edit, who created the
-- key has saved it.
alter table key_auth.keys
  add column version integer not null default 1,
  add column saved_by text,
  add column saved_at timestamptz;

-- The calls of one HTTP request are found without knowing the key.
create index api_key_requests_by_request_id on key_auth.api_key_requests (request_id, key_id) where request_id <> '';
drop index key_auth.api_key_requests_by_request;
