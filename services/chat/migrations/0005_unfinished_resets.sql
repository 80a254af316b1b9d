-- Resets of chats with rows that are still to be deleted. Nobody sees the chat's messages and events up to this id any more.
create table chat.unfinished_reset (
  chat bigint not null references chat.chat (id) on delete cascade,
  -- The last event id before the reset.
  up_to bigint not null,
  primary key (chat, up_to)
);
