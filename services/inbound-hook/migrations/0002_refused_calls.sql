-- The newest refused calls of each hook, for a day, so that people can see why a sender gets errors.
create table inbound_hook.refused_call (
  id bigint generated always as identity primary key,
  hook_id bigint not null,
  refused_at timestamptz not null,
  -- Of the response.
  status smallint not null,
  reason text not null,
  -- How far the time of the signature was from ours.
  seconds_off integer,
  request_id text not null
);

create index refused_call_hook on inbound_hook.refused_call (hook_id, id);
create index refused_call_time on inbound_hook.refused_call (refused_at);
