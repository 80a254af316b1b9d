import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Key, KeySchema, KeyStatus } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { type KeyStatus as Status, statusOf } from "../domain/key.ts";
import type { KeyRow } from "../store/keys.ts";

/** What is known of a key beside its row. */
export interface KeyFacts {
  callsLast24h: number;
  /** Which of the key's tools it can call; undefined when that could not be asked. */
  available: ReadonlySet<string> | undefined;
}

const STATUS: Record<Status, KeyStatus> = {
  active: KeyStatus.ACTIVE,
  revoked: KeyStatus.REVOKED,
  expired: KeyStatus.EXPIRED,
};

const timestamp = (date: Date | null) => (date ? timestampFromDate(date) : undefined);

export function keyMessage(row: KeyRow, { callsLast24h, available }: KeyFacts, now: Date): Key {
  const { id, name, prefix, tools, limit, allowedNetworks } = row;
  const message = create(KeySchema, { id, name, prefix, tools, limit, allowedNetworks });
  message.status = STATUS[statusOf(row, now)];
  message.callsTotal = BigInt(row.callsTotal);
  message.callsLast24h = BigInt(callsLast24h);
  message.createdAt = timestampFromDate(row.createdAt);
  // [MGMT-18] Red: what a call would be refused for.
  message.unavailableTools = available ? tools.filter((tool) => !available.has(tool)) : [];
  message.toolsUnchecked = available === undefined && tools.length > 0;
  for (const [member, date] of [
    ["expiresAt", row.expiresAt],
    ["revokedAt", row.revokedAt],
    ["lastUsedAt", row.lastUsedAt],
    ["previousSecretValidUntil", overlapOf(row, now)],
  ] as const) {
    const value = timestamp(date);
    if (value) message[member] = value;
  }
  return message;
}

/** The end of the overlap while the secret before can still be used. */
function overlapOf({ revokedAt, previousSecretValidUntil: until }: KeyRow, now: Date): Date | null {
  return until && !revokedAt && until > now ? until : null;
}
