-- Sealed, since a result is replayed as it was and so cannot be redacted. `result` is read where there is no other.
alter table tool_runner.idempotent_calls add column sealed_result bytea;

-- How much of results the calls of an API key have stored in an hour. Daily partitions, like the calls.
create table tool_runner.idempotent_bytes (
  key_id text not null,
  hour timestamptz not null,
  bytes bigint not null,
  primary key (key_id, hour)
) partition by range (hour);
