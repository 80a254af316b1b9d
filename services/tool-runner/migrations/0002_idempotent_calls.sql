-- The outcomes of calls with an idempotency key. Kept for 24 hours; daily partitions.
create table tool_runner.idempotent_calls (
  key_id text not null,
  tool text not null,
  idempotency_key text not null,
  claimed_at timestamptz not null,
  body_hash bytea not null,
  -- interrupted: the process that ran it died, and what the run had done is unknown.
  state text not null check (state in ('running', 'ok', 'failed', 'interrupted')),
  lease_until timestamptz not null,
  execution_id text not null default '',
  duration_ms integer not null default 0,
  result text,
  primary key (key_id, tool, idempotency_key, claimed_at)
) partition by range (claimed_at);
