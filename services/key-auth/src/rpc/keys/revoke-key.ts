import type { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import { announceChange } from "@toolgate/service-host/announce";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { epochScope } from "../../domain/key.ts";
import { type KeyRow, lockKey, setRevoked } from "../../store/keys.ts";
import { findLastAdmittedCall } from "../../store/usage.ts";
import { noSuchKey } from "../errors.ts";
import { callsLast24h, keyMessage } from "./key-message.ts";
import { auditKey } from "./record-change.ts";

/** [KEY-20] A second revocation keeps the time of the first. */
export const revokeKey: Handler<Context, typeof KeyService.method.revokeKey> = async (context, request, call) => {
  const principal = principalOf(call);
  const row = await inTransaction(context.pool, async (client) => {
    const before = await lockKey(client, principal.workspaceId, request.keyId);
    if (!before) throw noSuchKey();
    if (before.revokedAt) return before;
    const at = context.now();
    const after = await setRevoked(client, before.id, at);
    await auditKey(client, { principal, action: "key.revoke", before, after, at });
    return after;
  });
  await announceChange(context.epochs, epochScope(row.id));
  const [calls, lastAcceptedAt] = await Promise.all([callsLast24h(context, [row]), lastAccepted(context, row)]);
  // Does not check the key's tools: a revocation must not depend on tool-runner.
  const key = keyMessage(row, { callsLast24h: calls, available: undefined }, context.now());
  return lastAcceptedAt ? { key, lastAcceptedAt: timestampOf(lastAcceptedAt) } : { key };
};

/**
 * Exact once the change is announced, because no replica accepts another call. Redis has the time of the calls that it
 * admitted, the usage log of those admitted while Redis was down, and the key's row of older ones.
 */
async function lastAccepted(context: Context, row: KeyRow): Promise<Date | undefined> {
  const [counted, logged] = await Promise.all([
    context.counter.lastCounted(row.id).catch(() => undefined),
    findLastAdmittedCall(context.pool, row.id),
  ]);
  if (counted && logged) return new Date(Math.max(counted.getTime(), logged.getTime()));
  return counted ?? logged ?? row.lastUsedAt ?? undefined;
}
