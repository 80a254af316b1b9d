import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  RevocationReason,
  type SocialConnected,
  type SocialRevoked,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { choice, type EventData, type EventType, type JsonSchema, object, reportedAs, text } from "../event-type.ts";
import { cut, line, nameOf, present, utc } from "../fields.ts";

const MAX_ID_CHARS = 200;
const MAX_NAME_CHARS = 1_000;

/** The fields of both events. [EVT-51] */
const connection: Record<string, JsonSchema> = {
  ref: { type: ["string", "null"], description: "The partner's user; null for the workspace's own connection." },
  account: object({ id: text("Id of the account in the network."), name: text("Its name in the network.") }),
  connected_at: {
    type: "string",
    format: "date-time",
    pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$",
    description: "When it was connected, in UTC.",
  },
};
const account = { id: "8812004", name: "Ada Example" };

/** [EVT-15] [EVT-51] */
export const socialConnected: EventType = {
  type: "social.connected",
  sent: "An account of a professional social network was connected, by the workspace itself or by a partner's user.",
  hasSource: false,
  data: object(connection),
  example: { ref: "partner-user-17", account, connected_at: "2026-11-21T08:13:19Z" },
  report: reportedAs("socialConnected", connectionData, {
    ref: "partner-user-17",
    account,
    connectedAt: timestampFromDate(new Date("2026-11-21T08:13:19Z")),
  }),
};

/** [EVT-16] [EVT-51] [EVT-52] */
export const socialRevoked: EventType = {
  type: "social.revoked",
  sent: "The connection to an account of a professional social network ended.",
  hasSource: false,
  data: object({
    ...connection,
    reason: choice(
      "removed: in the network, by its owner; data_deletion: at the owner's request; expired; disconnected: by the workspace.",
      RevocationReason,
    ),
  }),
  example: { ref: null, account, connected_at: "2026-10-02T11:40:05Z", reason: "expired" },
  report: reportedAs(
    "socialRevoked",
    (report) => ({ ...connectionData(report), reason: nameOf(RevocationReason, report.reason, "reason") }),
    {
      account,
      connectedAt: timestampFromDate(new Date("2026-10-02T11:40:05Z")),
      reason: RevocationReason.EXPIRED,
    },
  ),
};

function connectionData(report: SocialConnected | SocialRevoked): EventData {
  const { id, name } = present(report.account, "account");
  return {
    ref: report.ref === undefined ? null : line(report.ref, "ref", MAX_ID_CHARS),
    account: { id: line(id, "account.id", MAX_ID_CHARS), name: cut(name, MAX_NAME_CHARS) },
    connected_at: utc(report.connectedAt, "connected_at"),
  };
}
