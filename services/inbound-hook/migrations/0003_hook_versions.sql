-- The version of a hook's settings, so that an edit does not overwrite another one unseen, and who saved it.
alter table inbound_hook.hook
  add column version integer not null default 1,
  add column saved_by text not null default '',
  -- Null: not edited since this column exists.
  add column saved_at timestamptz;
