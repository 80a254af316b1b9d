export const SHELL = {
  overview: "Overview",
  tools: "Tools",
  builder: "Builder",
  runs: "Runs",
  assistants: "Assistants",
  models: "Models",
  chats: "Chats",
  usage: "Chat usage",
  keys: "API keys",
  endpoints: "Endpoints",
  deliveries: "Deliveries",
  undelivered: "Undelivered",
  events: "Event catalogue",
  hooks: "Hooks",
  hookLog: "Hook log",
  variables: "Variables",
  secrets: "Secrets",
  queries: "Queries",
  sheets: "Sheets",
  members: "Members",
  settings: "Settings",
  audit: "Audit",
  account: "Your account",
  workspace: "Workspace",
  navigation: "Pages",
  menu: "Menu",
  skip: "Skip to the content",
  find: "Find",
  findHint: "A page, or an object’s name or id",
  nothingFound: "Nothing has this name or id.",
  searching: "Searching…",
  runsOfRequest: "Runs of this request",
  deliveriesOfRequest: "Deliveries of this request",
  hookCallsOfRequest: "Hook calls of this request",
  logOut: "Log out",
  sessionEnded: "Your session has ended",
  sessionEndedText: "Log in again: what you were doing goes on, and nothing that you entered is lost.",
  noAccess: "No access",
  noAccessText: "This page needs the role Manager or Admin in the workspace. Ask an admin of the workspace for it.",
  notFound: "There is no such page",
  failed: "This page has failed",
  keyboard: "Keyboard",
  singleKeys: "Single keys are shortcuts",
} as const;

/** What the palette finds, by kind. */
export const KINDS = {
  page: "Page",
  tool: "Tool",
  key: "API key",
  endpoint: "Endpoint",
  hook: "Hook",
  run: "Run",
  call: "Key call",
  request: "Request",
} as const;

export const SHORTCUTS: readonly (readonly [keys: string, meaning: string])[] = [
  ["Ctrl K", "Find a page or an object"],
  ["/", "Search in the list"],
  ["j, k", "Next and previous row"],
  ["Enter", "Open the row"],
  ["c", "Create"],
  ["Esc", "Close what is open"],
  ["?", "This list"],
];

/** A key call that the palette has found by its request. */
export function callText(tool: string, status: number): string {
  return `${tool}, answered ${status}`;
}
