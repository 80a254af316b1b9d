export const EVENTS = {
  title: "Event catalogue",
  type: "Type",
  search: "Type or description",
  empty: "No event types",
  emptyText: "This installation sends no events.",
  sent: "Sent",
  notSent: "Nothing sends it yet",
  testOnly: "Only as a test",
  addEndpoint: "Add an endpoint for it",
  whenSent: "When it is sent",
  subscription: "Subscription",
  subscribe: "Tick it at an endpoint.",
  subscribeCustom: "By name, such as custom.order.paid, or all with custom.*",
  subscribeNever: "Not needed: it goes to the endpoint that you send the test event to.",
  notSentText: "Endpoints may subscribe to it, but no part of this installation sends it yet.",
  example: "Example",
  schema: "JSON Schema",
  schemaText:
    "Of the whole body. Fields may be added at any time; your code should ignore those that it does not know.",
  showSchema: "Schema",
  schemaOf: (type: string) => `Schema and example of ${type}`,
} as const;

/** Headings of the event types that begin with this word. */
export const EVENT_GROUPS: Readonly<Record<string, string>> = {
  tool: "Tools",
  inbox: "Inbox",
  scheduled_task: "Scheduled tasks",
  public_tool: "Public tools",
  social: "Social accounts",
  custom: "Custom events",
  webhook: "Tests",
};
