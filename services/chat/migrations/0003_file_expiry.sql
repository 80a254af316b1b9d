-- When a file is deleted: soon when no message uses it or its chat was reset, else at the end of its retention.
alter table chat.file add column expires_at timestamptz not null default now() + interval '1 hour';
update chat.file set expires_at = created_at + case when turn is null then interval '1 hour' else interval '30 days' end;
create index file_expiry on chat.file (expires_at);
drop index chat.file_age;
