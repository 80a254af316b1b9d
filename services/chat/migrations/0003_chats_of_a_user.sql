-- For the list of a user's own chats. No column of it changes, so updates of a chat stay cheap.
create index chat_of_owner on chat.chat (workspace_id, owner, id);
