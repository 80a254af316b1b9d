import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { RevocationReason } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { choice, type EventType, object, reportedAs } from "../event-type.ts";
import { nameOf } from "../fields.ts";
import { connectionData, socialConnection } from "./social-connection.ts";

/** [EVT-16] [EVT-51] [EVT-52] */
export const socialRevoked: EventType = {
  type: "social.revoked",
  sent: "The connection to such an account ended.",
  hasSource: false,
  data: object({
    ...socialConnection,
    reason: choice(
      "removed: in the network, by its owner; data_deletion: at the owner's request; expired; disconnected: by the workspace.",
      RevocationReason,
    ),
  }),
  example: {
    ref: null,
    account: { id: "8812004", name: "Ada Example" },
    connected_at: "2026-10-02T11:40:05Z",
    reason: "expired",
  },
  report: reportedAs(
    "socialRevoked",
    (report) => ({ ...connectionData(report), reason: nameOf(RevocationReason, report.reason, "reason") }),
    {
      account: { id: "8812004", name: "Ada Example" },
      connectedAt: timestampFromDate(new Date("2026-10-02T11:40:05Z")),
      reason: RevocationReason.EXPIRED,
    },
  ),
};
