import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { UpdateKeyRequest } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { type EditableFields, findKey, lockKey, updateKey as updateKeyRow } from "../store/keys.ts";
import { announce } from "./announce.ts";
import { auditKey } from "./audit.ts";
import { noSuchKey } from "./get-key.ts";
import { checkedExpiry, checkedLimit, checkedName, checkedNetworks, checkedTools } from "./key-fields.ts";
import { keyMessageOf } from "./key-messages.ts";

export async function updateKey(context: Context, request: UpdateKeyRequest, call: HandlerContext) {
  const principal = principalOf(call);
  const { workspaceId } = principal;
  const known = await findKey(context.pool, workspaceId, request.keyId);
  if (!known) throw noSuchKey();
  // Asked before the lock is taken: another service answers it.
  const fields: Partial<EditableFields> = {
    ...(request.name !== undefined && { name: checkedName(request.name) }),
    ...(request.limit !== undefined && { limit: checkedLimit(request.limit) }),
    ...(request.expiry && { expiresAt: checkedExpiry(request.expiry) }),
    ...(request.allowedNetworks && { allowedNetworks: checkedNetworks(request.allowedNetworks.networks) }),
    ...(request.tools && {
      tools: await checkedTools(request.tools.names, known.tools, workspaceId, context.tools),
    }),
  };
  const row = await inTransaction(context.pool, async (client) => {
    const before = await lockKey(client, workspaceId, request.keyId);
    if (!before) throw noSuchKey();
    if (before.revokedAt) {
      const after = { ...before, ...fields };
      await auditKey(client, { principal, action: "key.edit_refused", before, after, at: context.now() });
      return "revoked";
    }
    const after = await updateKeyRow(client, before.id, { ...before, ...fields });
    await auditKey(client, { principal, action: "key.edit", before, after, at: context.now() });
    return after;
  });
  // Thrown here, so that the entry is committed.
  if (row === "revoked") throw new ConnectError("a revoked key cannot be edited", Code.FailedPrecondition);
  await announce(context, row.id);
  return { key: await keyMessageOf(context, row) };
}
