export const TOOLS = {
  title: "Tools",
  create: "Create tool",
  search: "Name or description",
  anyKind: "Any kind",
  anyFlag: "Any flag",
  byName: "By name",
  hours: "Runs by hour",
  bySaved: "Last saved first",
  empty: "No tools yet",
  emptyText: "A tool is a piece of code, an HTTP call or a prepared query that people outside may be allowed to call.",
  name: "Name",
  nameHint: "Letters, digits, “_” and “-”. Callers use it in the URL, and it cannot be changed later.",
  nameMissing: "Enter a name.",
  nameWrong: "1 to 64 letters, digits, “_” and “-”.",
  nameTaken: "There is a tool with this name already.",
  kind: "Kind",
  kindHint: "You get a working example to start from. Nothing is saved until you save it.",
  goOn: "Open the editor",
  notExposed: "internal",
} as const;

export const KINDS = {
  handler: "Handler",
  api: "API call",
  query: "Query",
} as const;

export const KIND_CHOICES = [
  ["handler", "Handler: your own JavaScript"],
  ["api", "API call: one HTTP request"],
  ["query", "Query: a prepared query of the data source"],
] as const;

interface FlagText {
  /** In lists. */
  word: string;
  label: string;
  meaning: string;
}

/** What a flag of a definition is called, and what it does. */
export const FLAGS: Readonly<Record<string, FlagText>> = {
  external_api: {
    word: "released",
    label: "Released for API keys",
    meaning: "Keys that list the tool may call it from the internet, and hooks may run it.",
  },
  external_api_write: {
    word: "writes",
    label: "May write when called by key",
    meaning: "Calls by key or hook may change the workspace's data source and sheets. Without it they only read.",
  },
  public_api: {
    word: "public",
    label: "Open to the public API",
    meaning: "Anyone may call it from a browser, without a key. It does not release the tool for keys.",
  },
  inbound_hook: {
    word: "hooks",
    label: "Released for hooks",
    meaning: "Hooks may run it. It does not release the tool for keys.",
  },
  inbound_hook_write: {
    word: "hooks write",
    label: "May write when run by a hook",
    meaning: "Hook runs may change the workspace's data source and sheets.",
  },
  webhook_event: {
    word: "webhook event",
    label: "Reports to webhooks",
    meaning: "Each run sends the event tool.completed to the workspace's endpoints.",
  },
  async: {
    word: "async",
    label: "Async",
    meaning: "The tool runs in the background only: calls by key and hook are refused.",
  },
};

export const FLAG_WARNINGS = {
  notTrue: (value: unknown) => `Set to ${JSON.stringify(value)}, which has no effect: only true does.`,
  async: "Has no effect while the tool is async.",
} as const;

export function runsOf(name: string): string {
  return `Runs of ${name} in the last 24 hours`;
}
