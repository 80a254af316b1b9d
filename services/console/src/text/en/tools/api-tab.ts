export const API_TAB = {
  // Release
  unreleased: "Not released for API keys",
  unreleasedText:
    "Programs with an API key get 403 until this tool is released with external_api. That is not the public API: public_api opens a tool to anyone's browser, without a key, a limit per caller or a name in the log. A release for keys opens it only to servers that hold a key which lists the tool. Neither release opens the other.",
  publicIsSet: "This tool is open to the public API. Keys cannot call it nevertheless.",
  askManager: "Ask a manager or an admin of the workspace to release it.",
  withoutEffect: "The release has no effect",
  async: "The tool is async, so the release has no effect",
  asyncText: "Async tools cannot be called with API keys: every call gets 403. Remove async from the definition first.",
  release: "Release it in the builder chat",

  // The call
  endpoint: "Endpoint",
  copyUrl: "Copy URL",
  authorization: "Authorization",
  contentType: "Content type",
  effect: "Effect",
  arguments: "Arguments",
  argumentsText: "Arguments that are not listed here are dropped before the tool runs.",
  noArguments: "The tool declares no arguments: whatever is sent in args is dropped.",
  required: "required",
  request: "Example request",
  fromFixture: "From the tool's args_fixture, reduced to declared arguments.",
  fromSchema: "Made from the parameters' schema.",
  noExample: "No example was found that passes the schema. Save an args_fixture with the tool to show one here.",
  code: "In code",
  codeText: "Each reads the key from the environment variable SERVICE_API_KEY.",
  languages: "Programming language",
  collection: "Download collection",
  collectionText: "For API clients, in the collection format v2.1. Fill in its variable apiKey after the import.",

  // Responses
  response: "Example response",
  responseFromSchema: "Made from external_api_response.",
  responseOpen: "The tool declares no external_api_response. It returns success and fields of its own, such as:",
  statuses: "Status codes",
  limit: "Rate-limit headers",
  limitText: "Every response to a valid key has them. The limit counts calls per clock minute.",
  only429: "Only with 429.",

  openapi: "OpenAPI description",
  openapiCurl: "curl for the OpenAPI description",
  openapiText:
    "Lists exactly the tools that a key may call. Fetching it needs the key, and does not count against its limit.",

  // Try it
  tryOut: "Try it",
  tryText: "A real call: it runs the tool, is written to the usage log, and counts against the key's limit.",
  tryWrites: "This tool may write.",
  key: "API key",
  keyHint: "Sent with this one request and nowhere else. It is not stored, and is gone when you leave this tab.",
  args: "Arguments (JSON)",
  send: "Send",
  sending: "Waiting for the tool…",
  noKey: "Paste an API key that allows this tool.",
  keyFault: (fault: string) => `The key ${fault}.`,
  argsFault: "The arguments must be a JSON object.",
  tryQuestion: (tool: string) => `Call ${tool} now?`,
  tryWarning: "This tool may write. The call is real: what it changes stays changed.",
  call: "Call it",
  unreachable: "No response: Toolgate cannot be reached, or the call took longer than 80 s.",
  tried: "Response",
  body: "Response body",
  cut: "Only its first 100,000 characters are shown.",

  // Keys
  keys: "Keys that allow this tool",
  keysText: "Revoked and expired keys are listed too; their calls get 401.",
  noKeys: "No key allows this tool yet.",
  openKeys: "API keys",
  more: "Show more",

  checklist: "Security checklist",
} as const;

export const CHECKLIST: readonly string[] = [
  "Keep keys on servers. Browsers and apps cannot hold a secret, and the API sends no CORS headers.",
  "Read the key from SERVICE_API_KEY or a secret store. Never put it into code, a repository, a URL or a log.",
  "Give each system a key of its own that lists only the tools it needs, with a limit that fits.",
  "Set allowed networks if the caller has fixed addresses, and an expiry if the need has an end.",
  "Revoke a key that may have leaked: its next call is refused. Rotate keys when people leave.",
  "Declare parameters with types and limits, since arguments come from outside. Undeclared ones never reach the tool.",
  "Return only what every holder of a key may see. Release writing (external_api_write) only where it is needed.",
  "Wait for Retry-After after a 429, and send an Idempotency-Key with calls that must not run twice.",
];

/** [BLD-30] */
export function withoutEffectText(value: string): string {
  return `external_api is ${value}. Only true, the boolean, releases a tool: as it is, every call gets 403.`;
}

export function limitText(remaining: string, limit: string): string {
  return `${remaining} of ${limit} calls are left to the key in this minute.`;
}
