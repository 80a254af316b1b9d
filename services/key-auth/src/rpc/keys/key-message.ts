import { create } from "@bufbuild/protobuf";
import { type Key, KeySchema, KeyStatus } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { type KeyStatus as Status, statusOf } from "../../domain/key.ts";
import type { KeyRow } from "../../store/keys.ts";
import { countCalls } from "../../store/usage.ts";

/** What messages of keys show besides the rows. */
interface KeyFacts {
  /** By key id; keys without calls are missing. */
  callsLast24h: ReadonlyMap<string, number>;
  /** The tools that keys can call; undefined when tool-runner was not asked or did not respond. */
  available: ReadonlySet<string> | undefined;
}

const DAY_MS = 86_400_000;

const STATUS: Record<Status, KeyStatus> = {
  active: KeyStatus.ACTIVE,
  revoked: KeyStatus.REVOKED,
  expired: KeyStatus.EXPIRED,
};

/**
 * The facts of keys of one workspace; one call to tool-runner checks the tools of all of them. For the response to a change,
 * they are read before it is made, because the response must not fail afterwards.
 */
export async function readFacts(context: Context, workspaceId: string, rows: readonly KeyRow[]): Promise<KeyFacts> {
  const names = [...new Set(rows.flatMap(({ tools }) => tools))];
  const [calls, available] = await Promise.all([
    callsLast24h(context, rows),
    // While tool-runner is down, keys are still listed, with their status.
    context.tools.released(workspaceId, names).catch(() => undefined),
  ]);
  return { callsLast24h: calls, available };
}

/** [KEY-11] */
export function callsLast24h({ pool, now }: Context, rows: readonly KeyRow[]): Promise<Map<string, number>> {
  const ids = rows.map(({ id }) => id);
  return countCalls(pool, ids, new Date(now().getTime() - DAY_MS));
}

export function keyMessage(row: KeyRow, { callsLast24h, available }: KeyFacts, now: Date): Key {
  const { id, name, prefix, tools, limit, allowedNetworks, version, savedBy } = row;
  const message = create(KeySchema, { id, name, prefix, tools, limit, allowedNetworks, version, savedBy });
  message.status = STATUS[statusOf(row, now)];
  message.callsTotal = BigInt(row.callsTotal);
  message.callsLast24h = BigInt(callsLast24h.get(id) ?? 0);
  message.createdAt = timestampOf(row.createdAt);
  // [MGMT-18] Shown in red.
  message.unavailableTools = available ? tools.filter((tool) => !available.has(tool)) : [];
  message.toolsUnchecked = available === undefined && tools.length > 0;
  for (const [member, date] of [
    ["expiresAt", row.expiresAt],
    ["revokedAt", row.revokedAt],
    ["lastUsedAt", row.lastUsedAt],
    ["savedAt", row.savedAt],
    ["previousSecretValidUntil", overlapEndOf(row, now)],
  ] as const) {
    if (date) message[member] = timestampOf(date);
  }
  return message;
}

/** Null when the previous secret can no longer be used. */
function overlapEndOf({ revokedAt, previousSecretValidUntil: until }: KeyRow, now: Date): Date | null {
  return until && !revokedAt && until > now ? until : null;
}
