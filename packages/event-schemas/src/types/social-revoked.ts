import { choice, type EventType, object } from "../event-type.ts";
import { exampleConnection, socialConnection } from "./social-connection.ts";

/** [EVT-16] [EVT-51] [EVT-52] */
export const socialRevoked: EventType = {
  type: "social.revoked",
  sent: "The connection to such an account is gone.",
  data: object({
    ...socialConnection,
    reason: choice(
      "removed: there, by its owner; data_deletion: on the owner's request; expired; disconnected: here.",
      "removed",
      "data_deletion",
      "expired",
      "disconnected",
    ),
  }),
  example: { ...exampleConnection, ref: null, reason: "expired" },
};
