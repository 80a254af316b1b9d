import type { SocialConnected, SocialRevoked } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { type EventData, type JsonSchema, object, text } from "../event-type.ts";
import { cut, line, present, utc } from "../fields.ts";

const MAX_ID_CHARS = 200;
const MAX_NAME_CHARS = 1_000;

/** The fields that both events of a connection have. [EVT-51] */
export const socialConnection: Record<string, JsonSchema> = {
  ref: { type: ["string", "null"], description: "The partner's user; null for the workspace's own connection." },
  account: object({ id: text("Id of the account in the network."), name: text("Its name in the network.") }),
  connected_at: {
    type: "string",
    format: "date-time",
    pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$",
    description: "When it was connected, in UTC.",
  },
};

/** [EVT-51] */
export function connectionData({ ref, account, connectedAt }: SocialConnected | SocialRevoked): EventData {
  const { id, name } = present(account, "account");
  return {
    ref: ref === undefined ? null : line(ref, "ref", MAX_ID_CHARS),
    account: { id: line(id, "account.id", MAX_ID_CHARS), name: cut(name, MAX_NAME_CHARS) },
    connected_at: utc(connectedAt, "connected_at"),
  };
}
