export const RUNS = {
  title: "Runs",
  tool: "Tool",
  search: "Tool or request id",
  anyEntry: "Any origin",
  anyOutcome: "Any outcome",
  anyKey: "Any key",
  succeeded: "Succeeded",
  failed: "Failed",
  empty: "No runs yet",
  emptyText: "Each execution of a tool appears here for 90 days: calls by key, hooks, assistants and dry runs.",
  readOnly: "Read-only",
  mayWrite: "May write",
  nested: "nested",
  timeline: "Timeline",
  what: "What",
  start: "Start",
  took: "Took",
  unknownStart: "not recorded",
  wholeTimeline: "Show the whole timeline",
  moreNested: "There are more nested runs than these; the log shows the first ones.",
  error: "Error",
  arguments: "Arguments",
  result: "Result",
  logs: "Logs",
  noLogs: "The tool logged nothing.",
  parent: "Open the run that called it",
  run: "Run of",
  succeededAfter: "succeeded after",
  failedAfter: "failed after",
  draft: "a draft, not saved",
  runsOfCaller: "Runs of this caller",
  recorded: "recorded, not made",
} as const;

/** How a run was started, as filters and cells name it. */
export const ENTRY_WORDS: Readonly<Record<string, string>> = {
  api_key: "API key",
  hook: "Hook",
  chat: "Assistant",
  dry_run: "Dry run",
  public_api: "Public API",
  scheduled_task: "Scheduled task",
};

/** Codes of host calls that fail, in words; others are shown as they are. */
export const HOST_CALL_ERRORS: Readonly<Record<string, string>> = {
  READ_ONLY: "refused: the run is read-only",
  NO_SUCH_TOOL: "no such tool",
  NO_SUCH_QUERY: "no such query",
  TOO_DEEP: "tools call each other too deeply",
  INVALID_ARGUMENT: "invalid arguments",
  TOOL_FAILED: "the tool failed",
  TIMEOUT: "timed out",
  INTERNAL: "failed on the platform's side",
  FAILED: "failed",
};

export const HOST_CALL_NAMES: Readonly<Record<string, string>> = {
  callTool: "call tool",
  fetch: "fetch",
  executePreparedQuery: "query",
  executeQuery: "SQL",
  readSheet: "read sheet",
  writeToSheet: "write sheet",
  clearFromSheet: "clear sheet",
  emitWebhook: "emit event",
  sendMail: "send mail",
  variable: "read variable",
};

export function notKept(characters: number): string {
  return `Not kept: it has ${characters.toLocaleString("en")} characters, and the log keeps values of up to 65,536.`;
}

export function milliseconds(count: number): string {
  return `${count.toLocaleString("en")} ms`;
}
