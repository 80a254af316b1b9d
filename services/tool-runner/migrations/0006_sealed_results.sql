-- Sealed, because a result is replayed unchanged and so cannot be redacted. `result` is read in older rows.
alter table tool_runner.idempotent_calls add column sealed_result bytea;

-- The bytes of results that the calls of an API key have stored in an hour. Daily partitions, like the calls.
create table tool_runner.idempotent_bytes (
  key_id text not null,
  hour timestamptz not null,
  bytes bigint not null,
  primary key (key_id, hour)
) partition by range (hour);
