-- The status changes twice in every run. While no index contains it, Postgres need not rewrite the index entries of a row each
-- time; this column, which indexes do contain, changes only if the run fails.
drop index inbound_hook.delivery_failed;
drop index inbound_hook.delivery_failed_of_hook;

alter table inbound_hook.delivery add column failure text
  generated always as (case when status in ('failed', 'interrupted') then status end) stored;

create index delivery_failed on inbound_hook.delivery (workspace_id, failure, id)
  include (created_at, hook_id) where failure is not null;
create index delivery_failed_of_hook on inbound_hook.delivery (hook_id, failure, id)
  include (created_at, workspace_id) where failure is not null;

-- Room for the new versions of a row in its page. New partitions get it when they are created.
do $$ declare partition regclass; begin
  for partition in select inhrelid::regclass from pg_inherits where inhparent = 'inbound_hook.delivery'::regclass loop
    execute format('alter table %s set (fillfactor = 55)', partition);
  end loop;
end $$;
