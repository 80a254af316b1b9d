alter table key_auth.api_key_requests add column request_id text not null default '';

create index api_key_requests_by_request on key_auth.api_key_requests (key_id, request_id) where request_id <> '';
