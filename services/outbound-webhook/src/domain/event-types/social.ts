import {
  RevocationReason,
  type SocialConnected,
  type SocialRevoked,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { cut, line, oneOf, present, utc } from "./field.ts";
import type { Happening } from "./happening.ts";

const MAX_ID_CHARS = 200;
const MAX_NAME_CHARS = 1_000;

/** [EVT-52] */
const REASONS: Readonly<Record<number, string>> = {
  [RevocationReason.REMOVED]: "removed",
  [RevocationReason.DATA_DELETION]: "data_deletion",
  [RevocationReason.EXPIRED]: "expired",
  [RevocationReason.DISCONNECTED]: "disconnected",
};

/** [EVT-15] */
export function socialConnected(report: SocialConnected): Happening {
  return { events: [{ type: "social.connected", data: connectionData(report) }] };
}

/** [EVT-16] */
export function socialRevoked(report: SocialRevoked): Happening {
  const data = { ...connectionData(report), reason: oneOf(report.reason, REASONS, "reason") };
  return { events: [{ type: "social.revoked", data }] };
}

/** [EVT-51] */
function connectionData({ ref, account, connectedAt }: SocialConnected | SocialRevoked): Record<string, unknown> {
  const { id, name } = present(account, "account");
  return {
    ref: ref === undefined ? null : line(ref, "ref", MAX_ID_CHARS),
    account: { id: line(id, "account.id", MAX_ID_CHARS), name: cut(name, MAX_NAME_CHARS) },
    connected_at: utc(connectedAt, "connected_at"),
  };
}
