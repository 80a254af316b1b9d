export const KEYS = {
  title: "API keys",
  create: "Create key",
  edit: "Edit",
  save: "Save",
  rotate: "Rotate",
  revoke: "Revoke",
  search: "Name or prefix",
  anyStatus: "Any status",
  newest: "Newest first",
  byName: "By name",
  byLastUse: "Last used first",
  byCalls: "Most calls first",
  byExpiry: "First to expire first",
  anyTools: "Any tools",
  withUnavailable: "With unavailable tools",
  runs: "Runs with this key",
  reference: "API reference for its holder",
  history: "Who changed it",
  empty: "No API keys yet",
  emptyText: "A key lets a partner's program call the tools that you choose, up to a number of calls per minute.",
  name: "Name",
  nameHint: "Who uses it, such as the partner's name.",
  tools: "Tools",
  toolsHint: "Only released tools that are not async can be called by key.",
  noTools: "No tool is released yet. Open a tool and release it first.",
  limit: "Calls per minute",
  expiry: "Valid through",
  expiryHint: "To the end of that day in UTC. Empty: for ever.",
  networks: "Allowed networks",
  networksHint: "One per line, such as 203.0.113.0/24. Empty: from anywhere.",
  created: "Key created",
  rotated: "Key rotated",
  secretText: "Callers send it as “Authorization: Bearer …”. It is shown only now; Toolgate keeps only its hash.",
  rotateText:
    "The key gets a new secret. The old one stays valid for the time that you choose, so that callers can change over.",
  overlap: "Old secret stays valid for",
  lastCalls: "Last 50 calls",
  noCalls: "No call yet.",
  doctor: "Why is a call refused?",
  doctorText: "Checks a call with this key as the gateway would, without making it.",
  check: "Check",
  callerIp: "Caller's address",
  callerIpHint: "Empty: the key's networks are not checked.",
  callsGet403: "calls get 403",
  release: "Open its release",
  definition: "Open its definition",
  revokeText: "The next call with it is refused, everywhere and for ever.",
  lastAccepted: "Last call:",
  neverUsed: "never",
  hours: "By hour",
  unavailable: "Not released, async or deleted: calls get 403.",
} as const;

export const OVERLAPS: readonly (readonly [seconds: string, label: string])[] = [
  ["0", "Not at all"],
  ["3600", "1 hour"],
  ["86400", "1 day"],
  ["604800", "7 days"],
];

/** The gates of the key doctor that a call passes; of the others the server explains what is wrong. */
export const GATES: Readonly<Record<string, string>> = {
  key_active: "The key is active",
  network: "The caller's network is allowed",
  limit: "The minute's limit is not used up",
  workspace_unlocked: "The workspace is not locked",
  tool_released: "The tool is released",
  tool_listed: "The key lists the tool",
  tool_not_async: "The tool is not async",
};

/** What leads to the field that opens a gate. */
export const REMEDIES = {
  expiry: "Change the expiry date",
  allowed_networks: "Change the networks",
  limit: "Change the limit",
  tools: "Change the tools",
} as const;

export function revokedText(name: string, lastAccepted: string | undefined): string {
  return `${name} is revoked. ${lastAccepted ? `Its last call was accepted at ${lastAccepted}` : "It was never used"}.`;
}

export function hoursOf(name: string): string {
  return `Calls with ${name} in the last 24 hours`;
}
