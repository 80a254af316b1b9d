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
} as const;

export const PLAYGROUND = {
  newChat: "New chat",
  reset: "Reset chat",
  resetTitle: "Reset this chat?",
  resetText: "Its messages and files are deleted, and an answer that is being written ends.",
  testMode: "Test mode: tools write nothing",
  saved: "The playground talks to the version that is saved.",
} as const;
