-- Authenticates the tokens of known devices. One row: without it, all devices are unknown until their next login.
create table key_auth.device_key (
  only_row boolean primary key default true check (only_row),
  sealed_key bytea not null
);
