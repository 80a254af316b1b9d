import { type JsonSchema, object, text } from "../event-type.ts";

/** The members that both events of a connection have. [EVT-51] */
export const socialConnection: Record<string, JsonSchema> = {
  ref: { type: ["string", "null"], description: "The partner's user; null for the workspace's own connection." },
  account: object({ id: text("Id of the account in the network."), name: text("Its name there.") }),
  connected_at: {
    type: "string",
    format: "date-time",
    pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$",
    description: "When it was connected, in UTC.",
  },
};

export const exampleConnection = {
  ref: "partner-user-17",
  account: { id: "8812004", name: "Ada Example" },
  connected_at: "2026-10-02T11:40:05Z",
};
