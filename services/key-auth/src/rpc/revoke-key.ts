import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import type { RevokeKeyRequest } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { type KeyRow, lockKey, setRevoked } from "../store/keys.ts";
import { findLastAdmittedCall } from "../store/usage.ts";
import { announce } from "./announce.ts";
import { auditKey } from "./audit.ts";
import { callsLast24h } from "./calls-last-24h.ts";
import { noSuchKey } from "./get-key.ts";
import { keyMessage } from "./key-message.ts";

/** [KEY-20] From any state; a second revocation keeps the first one's time. */
export async function revokeKey(context: Context, request: RevokeKeyRequest, call: HandlerContext) {
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
  await announce(context, row.id);
  const [calls, lastAcceptedAt] = await Promise.all([callsLast24h(context, [row.id]), lastAccepted(context, row)]);
  // Without asking for its tools: a revocation depends on no other service.
  const key = keyMessage(row, { callsLast24h: calls.get(row.id) ?? 0, available: undefined }, context.now());
  return lastAcceptedAt ? { key, lastAcceptedAt: timestampFromDate(lastAcceptedAt) } : { key };
}

/**
 * Read after the announcement, after which no replica accepts a call. Redis knows every call that it admitted, the log
 * those that were admitted while Redis was away, and the key what is older than both.
 */
async function lastAccepted(context: Context, row: KeyRow): Promise<Date | undefined> {
  const [counted, logged] = await Promise.all([
    context.gate.lastAccepted(row.id).catch(() => undefined),
    findLastAdmittedCall(context.pool, row.id),
  ]);
  if (counted && logged) return new Date(Math.max(counted.getTime(), logged.getTime()));
  return counted ?? logged ?? row.lastUsedAt ?? undefined;
}
