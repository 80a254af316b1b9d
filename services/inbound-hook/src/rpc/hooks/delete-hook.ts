import type { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import { announceChange } from "@toolgate/service-host/announce";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { ReceiverContext } from "../../context.ts";
import { epochScope } from "../../domain/hook.ts";
import { deleteHook as deleteRow, lockHook } from "../../store/hooks.ts";
import { auditHook } from "../record-change.ts";
import { hookKey, noSuchHook } from "../request-fields.ts";

/** A second deletion only announces the first one again, in case that failed. */
export const deleteHook: Handler<ReceiverContext, typeof HookService.method.deleteHook> = async (
  context,
  { hookId },
  call,
) => {
  const principal = principalOf(call);
  const key = hookKey(principal, hookId);
  await inTransaction(context.pool, async (client) => {
    const hook = await lockHook(client, key);
    if (!hook) throw noSuchHook();
    if (hook.deletedAt) return;
    const at = context.now();
    await deleteRow(client, hook.id, at);
    await auditHook(client, hook, { principal, at, action: "hook.delete" });
  });
  await announceChange(context.epochs, epochScope(key.hookId));
  return {};
};
