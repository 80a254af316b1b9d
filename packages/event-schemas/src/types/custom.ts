import type { EventType } from "../event-type.ts";

/** [EVT-17] [EVT-53] */
export const custom: EventType = {
  type: "custom",
  sent: "A tool sent a custom event.",
  hasSource: true,
  data: { type: "object", description: "Exactly the object that the tool passed; nothing is redacted." },
  example: { order: "A-1001", amount_cents: 4990 },
};
