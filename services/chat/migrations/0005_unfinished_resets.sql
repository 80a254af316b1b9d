-- Resets of chats with rows that are still to be deleted. Nobody sees the chat's messages and events up to this id any more.
create table chat.unfinished_reset (
  chat bigint not null references chat.chat (id) on delete cascade,
  -- The last event id before the reset.
  up_to bigint not null,
  workspace_id text collate "C" not null,
  primary key (chat, up_to)
);

-- Workspaces take turns.
create index unfinished_reset_of_workspace on chat.unfinished_reset (workspace_id, chat);
