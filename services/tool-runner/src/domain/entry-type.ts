/** How a run was started, as the log and events name it. [LOG-11] [EVT-26] */
export type EntryType = "api_key" | "dry_run" | "chat" | "scheduled_task" | "public_api" | "hook" | "test";
