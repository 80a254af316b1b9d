import { type EventType, object } from "../event-type.ts";
import { exampleConnection, socialConnection } from "./social-connection.ts";

/** [EVT-15] [EVT-51] */
export const socialConnected: EventType = {
  type: "social.connected",
  sent: "An account of a professional social network was connected, by the workspace itself or by a partner's user.",
  data: object(socialConnection),
  example: { ...exampleConnection, connected_at: "2026-11-21T08:13:19Z" },
};
