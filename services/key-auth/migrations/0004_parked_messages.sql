-- Messages that cannot be processed, kept for the operator.
create table key_auth.parked_message (
  id bigint generated always as identity primary key,
  parked_at timestamptz not null,
  subject text not null,
  reason text not null,
  payload bytea not null
);
