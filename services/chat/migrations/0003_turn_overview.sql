-- What the console's overview counts: answers and failures of a workspace by time. Each turn is written to one of them, once.
create index turn_completed on chat.turn (workspace_id, created_at) where status = 'completed';
create index turn_failed on chat.turn (workspace_id, created_at) where status = 'failed';
