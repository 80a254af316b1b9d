export const REFERENCE = {
  title: "API reference",
  intro:
    "Paste an API key to see the tools that it may call: what they do, what they take and return, and how to call them from your code.",
  keyHint:
    "Sent to this server with each request from this page, and nowhere else. It is not stored, and is gone when you leave.",
  show: "Show tools",
  showing: "Reading…",
  forget: "Forget the key",
  refused: "The key is not valid: it is unknown, revoked or expired, or may not be used from your network.",
  unreachable: "No response: the server cannot be reached.",
  noTools: "This key may call no tool at the moment. Ask whoever gave it to you.",
  tools: "Tools",
  search: "Tool",
  noMatch: "No tool of this key has this in its name.",
  gone: "This key may not call the tool that the address names.",
  example: "An example that passes the schema.",
  noExample: "The schema is too open for an example.",
  result: "Made from the schema of the result.",
  resultOpen: "The tool describes no result. It returns success and fields of its own, such as:",
  count: (tools: number) => (tools === 1 ? "1 tool" : `${tools} tools`),
  failed: (status: number) => `The server answered ${status}. Try again later.`,
} as const;
