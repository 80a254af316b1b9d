export const ASSISTANTS = {
  title: "Assistants",
  create: "Create assistant",
  empty: "No assistants yet",
  emptyText: "An assistant answers chats of your site, apps and hooks with your tools.",
  models: "Models",
  builtIn: "built-in model",
  tools: "Tools",
  saved: "Saved",
  state: "State",
  isDefault: "Default",
  definition: "Definition",
  playground: "Playground",
  versions: "Versions",
  parts: "Parts of the assistant",
  makeDefault: "Make it the default",
  name: "Name",
  nameHint: "Letters, digits, “_” and “-”. It cannot be changed later.",
  nameMissing: "Enter a name.",
  delete: "Delete assistant",
  deleteTitle: (name: string) => `Delete ${name}?`,
  deleteText: "Chats and hooks that name it get errors from now on. Their history stays.",
} as const;

export const ASSISTANT_EDITOR = {
  instructions: "Instructions",
  instructionsHint: "What the model is told before every conversation; at most 32,000 characters.",
  models: "Models",
  modelsHint:
    "At most 5, in this order: the next one is asked when one fails before its first output. Without any, the built-in model answers.",
  tools: "Tools",
  toolsHint: "The only ones that it may call, at most 100. They need no release.",
  greeting: "Greeting",
  greetingHint: "Shown before the first message.",
  suggestions: "Suggestions",
  suggestionsHint: "Messages that users may click, one per line; at most 10.",
  flags: "Hooks",
  writesWithoutHook: "Has no effect until hooks may run it.",
  isGone: "there is none",
  earlier: "Earlier",
  add: (what: string) => `Add to ${what.toLowerCase()}`,
  remove: (name: string) => `Remove ${name}`,
} as const;

export const ASSISTANT_FLAGS = {
  inbound_hook: { label: "Released for hooks", meaning: "Hooks may run it, with one message in a chat of its own." },
  inbound_hook_write: {
    label: "Its tools may write when a hook runs it",
    meaning: "Without it they only read in runs of hooks. Chats of users may always write.",
  },
} as const;

export const ASSISTANT_EXPOSURE = {
  noTools: "It has no tools.",
  tools: (writes: boolean) => `It may call these tools, ${writes ? "and they may write" : "and they may only read"}:`,
} as const;

export const PLAYGROUND = {
  newChat: "New chat",
  reset: "Reset chat",
  resetTitle: "Reset this chat?",
  resetText: "Its messages and files are deleted, and an answer that is being written ends.",
  testMode: "Test mode: tools write nothing",
  saved: "The playground talks to the version that is saved.",
} as const;
