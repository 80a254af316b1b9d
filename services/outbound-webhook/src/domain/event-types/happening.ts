/** What a report comes to: events of the catalogue, or why nothing is sent. */
export type Happening =
  | { events: readonly { type: string; data: Record<string, unknown> }[] }
  | { notSent: "test-mode" | "widget-chat" | "status-unchanged" };
