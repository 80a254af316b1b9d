import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type EventType, object, reportedAs } from "../event-type.ts";
import { connectionData, socialConnection } from "./social-connection.ts";

/** [EVT-15] [EVT-51] */
export const socialConnected: EventType = {
  type: "social.connected",
  sent: "An account of a professional social network was connected, by the workspace itself or by a partner's user.",
  hasSource: false,
  data: object(socialConnection),
  example: {
    ref: "partner-user-17",
    account: { id: "8812004", name: "Ada Example" },
    connected_at: "2026-11-21T08:13:19Z",
  },
  report: reportedAs("socialConnected", connectionData, {
    ref: "partner-user-17",
    account: { id: "8812004", name: "Ada Example" },
    connectedAt: timestampFromDate(new Date("2026-11-21T08:13:19Z")),
  }),
};
