import { randomUUID } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import type { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import { generateSecret, hashSecret, visiblePrefix } from "@toolgate/rules/api-key-secret";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { DEFAULT_LIMIT } from "../../domain/key.ts";
import { insertKey, lockRoomForKey, MAX_KEYS } from "../../store/keys.ts";
import { checkedExpiry, checkedLimit, checkedName, checkedNetworks, checkedTools } from "./check-fields.ts";
import { keyMessage } from "./key-message.ts";
import { auditKey } from "./record-change.ts";

export const createKey: Handler<Context, typeof KeyService.method.createKey> = async (context, request, call) => {
  const principal = principalOf(call);
  const { workspaceId, email } = principal;
  const secret = generateSecret();
  const key = {
    id: randomUUID(),
    workspaceId,
    name: checkedName(request.name),
    secretHash: hashSecret(secret),
    prefix: visiblePrefix(secret),
    limit: checkedLimit(request.limit ?? DEFAULT_LIMIT),
    allowedNetworks: checkedNetworks(request.allowedNetworks),
    expiresAt: request.expiry ? checkedExpiry(request.expiry) : null,
    tools: await checkedTools(request.tools, [], workspaceId, context.tools),
    createdBy: email,
  };
  const row = await inTransaction(context.pool, async (client) => {
    if (!(await lockRoomForKey(client, workspaceId))) {
      throw new ConnectError(`a workspace has at most ${MAX_KEYS} keys, revoked ones included`, Code.ResourceExhausted);
    }
    const after = await insertKey(client, key);
    await auditKey(client, { principal, action: "key.create", after, at: context.now() });
    return after;
  });
  call.responseHeader.set("cache-control", "no-store");
  return { key: keyMessage(row, { callsLast24h: new Map(), available: new Set(row.tools) }, context.now()), secret };
};
