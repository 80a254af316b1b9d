import { create } from "@bufbuild/protobuf";
import { type Key, KeySchema, KeyStatus } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { countPlan } from "../../domain/call-buckets.ts";
import { type KeyStatus as Status, statusOf } from "../../domain/key.ts";
import type { KeyRow } from "../../store/keys.ts";
import { countCalls } from "../../store/usage.ts";

interface KeyFacts {
  callsLast24h: number;
  /** The key's tools that it can call; undefined when tool-runner was not asked or did not respond. */
  available: ReadonlySet<string> | undefined;
}

const DAY_MS = 86_400_000;

const STATUS: Record<Status, KeyStatus> = {
  active: KeyStatus.ACTIVE,
  revoked: KeyStatus.REVOKED,
  expired: KeyStatus.EXPIRED,
};

/** What messages of keys of one workspace show besides the rows; one call to tool-runner checks the tools of all of them. */
async function readFacts(context: Context, workspaceId: string, rows: readonly KeyRow[]) {
  const names = [...new Set(rows.flatMap(({ tools }) => tools))];
  const [calls, available] = await Promise.all([
    callsLast24h(
      context,
      rows.map(({ id }) => id),
    ),
    // While tool-runner is down, keys are still listed, with their status.
    context.tools.released(workspaceId, names).catch(() => undefined),
  ]);
  return ({ id }: KeyRow): KeyFacts => ({ callsLast24h: calls.get(id) ?? 0, available });
}

/** For the response to a change: read before the change is made, because the response must not fail afterwards. */
export async function factsOf(context: Context, row: KeyRow): Promise<KeyFacts> {
  return (await readFacts(context, row.workspaceId, [row]))(row);
}

export async function keyMessages(context: Context, workspaceId: string, rows: KeyRow[]): Promise<Key[]> {
  const factsOfRow = await readFacts(context, workspaceId, rows);
  const now = context.now();
  return rows.map((row) => keyMessage(row, factsOfRow(row), now));
}

export async function keyMessageOf(context: Context, row: KeyRow): Promise<Key> {
  return keyMessage(row, await factsOf(context, row), context.now());
}

/** [KEY-11] By key id; keys without calls are missing. */
export function callsLast24h({ pool, now }: Context, keyIds: string[]): Promise<Map<string, number>> {
  return countCalls(pool, keyIds, countPlan(new Date(now().getTime() - DAY_MS)));
}

export function keyMessage(row: KeyRow, { callsLast24h, available }: KeyFacts, now: Date): Key {
  const { id, name, prefix, tools, limit, allowedNetworks, version, savedBy } = row;
  const message = create(KeySchema, { id, name, prefix, tools, limit, allowedNetworks, version, savedBy });
  message.status = STATUS[statusOf(row, now)];
  message.callsTotal = BigInt(row.callsTotal);
  message.callsLast24h = BigInt(callsLast24h);
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
