import { Code, ConnectError } from "@connectrpc/connect";
import { raiseWithRetries } from "@toolgate/epoch/epoch";
import type { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import { generateSecret, hashSecret, visiblePrefix } from "@toolgate/rules/api-key-secret";
import { assertAnnounceable } from "@toolgate/service-host/announce";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { epochScope, overlapEnd } from "../../domain/key.ts";
import { findKey, lockKey, replaceSecret } from "../../store/keys.ts";
import { noSuchKey } from "../errors.ts";
import { checkedOverlap } from "./check-fields.ts";
import { keyMessage, readFacts } from "./key-message.ts";
import { auditKey } from "./record-change.ts";

export const rotateKey: Handler<Context, typeof KeyService.method.rotateKey> = async (context, request, call) => {
  const principal = principalOf(call);
  const overlapSeconds = checkedOverlap(request.overlapSeconds);
  const known = await findKey(context.pool, principal.workspaceId, request.keyId);
  if (!known) throw noSuchKey();
  const facts = await readFacts(context, principal.workspaceId, [known]);
  await assertAnnounceable(context.epochs, epochScope(known.id));
  const secret = generateSecret();
  const row = await inTransaction(context.pool, async (client) => {
    const before = await lockKey(client, principal.workspaceId, request.keyId);
    if (!before) throw noSuchKey();
    if (before.revokedAt) throw new ConnectError("a revoked key cannot be rotated", Code.FailedPrecondition);
    const now = context.now();
    const after = await replaceSecret(client, before.id, {
      hash: hashSecret(secret),
      prefix: visiblePrefix(secret),
      previousValidUntil: overlapSeconds > 0 ? overlapEnd(now, overlapSeconds, before.expiresAt) : null,
    });
    await auditKey(client, { principal, action: "key.rotate", before, after, at: now });
    return after;
  });
  // From here on nothing may fail: the new secret is only in this response.
  await raiseWithRetries(context.epochs, epochScope(row.id));
  call.responseHeader.set("cache-control", "no-store");
  return { key: keyMessage(row, facts, context.now()), secret };
};
