import { Code, ConnectError } from "@connectrpc/connect";
import type { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import { announceChange } from "@toolgate/service-host/announce";
import { editConflict } from "@toolgate/service-host/edit-conflict";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { epochScope } from "../../domain/key.ts";
import { type EditableFields, findKey, lockKey, updateKey as updateKeyRow } from "../../store/keys.ts";
import { noSuchKey } from "../errors.ts";
import { checkedExpiry, checkedLimit, checkedName, checkedNetworks, checkedTools } from "./check-fields.ts";
import { keyMessage, readFacts } from "./key-message.ts";
import { auditKey } from "./record-change.ts";

export const updateKey: Handler<Context, typeof KeyService.method.updateKey> = async (context, request, call) => {
  const principal = principalOf(call);
  const { workspaceId } = principal;
  const known = await findKey(context.pool, workspaceId, request.keyId);
  if (!known) throw noSuchKey();
  // Before the row is locked, because the check of the tools calls tool-runner.
  const fields: Partial<EditableFields> = {
    ...(request.name !== undefined && { name: checkedName(request.name) }),
    ...(request.limit !== undefined && { limit: checkedLimit(request.limit) }),
    ...(request.expiry && { expiresAt: checkedExpiry(request.expiry) }),
    ...(request.allowedNetworks && { allowedNetworks: checkedNetworks(request.allowedNetworks.networks) }),
    ...(request.tools && {
      tools: await checkedTools(request.tools.names, known.tools, workspaceId, context.tools),
    }),
  };
  const facts = await readFacts(context, workspaceId, [{ ...known, ...fields }]);
  const row = await inTransaction(context.pool, async (client) => {
    const before = await lockKey(client, workspaceId, request.keyId);
    if (!before) throw noSuchKey();
    if (before.revokedAt) {
      const after = { ...before, ...fields };
      await auditKey(client, { principal, action: "key.edit_refused", before, after, at: context.now() });
      return "revoked";
    }
    if (request.expectedVersion !== undefined && request.expectedVersion !== before.version) throw editConflict(before);
    const at = context.now();
    const after = await updateKeyRow(client, before.id, { ...before, ...fields }, { by: principal.email, at });
    await auditKey(client, { principal, action: "key.edit", before, after, at });
    return after;
  });
  // Thrown after the transaction, so that its audit entry is committed.
  if (row === "revoked") throw new ConnectError("a revoked key cannot be edited", Code.FailedPrecondition);
  await announceChange(context.epochs, epochScope(row.id));
  return { key: keyMessage(row, facts, context.now()) };
};
