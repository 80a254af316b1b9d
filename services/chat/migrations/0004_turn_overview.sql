-- What the console's overview counts: the answers of a workspace by time, and those that its models failed to give.
create index turn_completed on chat.turn (workspace_id, created_at) where status = 'completed';
create index turn_model_failed on chat.turn (workspace_id, created_at) where error_code = 'MODEL_FAILED';
