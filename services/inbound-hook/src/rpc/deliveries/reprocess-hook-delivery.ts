import { Code, ConnectError } from "@connectrpc/connect";
import type { HookDeliveryService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { ReceiverContext } from "../../context.ts";
import { findDelivery } from "../../store/log/read.ts";
import { queueAgain } from "../../store/runs/reprocess.ts";
import { hookAuditRow } from "../record-change.ts";
import { noSuchDelivery, toDelivery } from "./delivery-message.ts";

const REFUSALS = {
  "not-ended": "the delivery is still waiting or running",
  "too-many-runs": "the delivery has been processed too often",
} as const;

/** [IN-13] Neither the signature, nor duplicates, nor the limit are checked again; the release is, when it runs. */
export const reprocessHookDelivery: Handler<
  ReceiverContext,
  typeof HookDeliveryService.method.reprocessHookDelivery
> = async (context, { deliveryId }, call) => {
  const principal = principalOf(call);
  const { workspaceId } = principal;
  if (await context.isWorkspaceLocked(workspaceId)) throw refused("the workspace is locked");
  const found = await findDelivery(context.pool, workspaceId, deliveryId);
  if (!found) throw noSuchDelivery();
  const { hookId, hookName, hookDeleted, target } = found.delivery;
  if (hookDeleted) throw refused("the hook was deleted");
  const now = context.now();
  const queued = await queueAgain(context.stores[target.kind], {
    workspaceId,
    deliveryId,
    hookId,
    requestedBy: principal.email,
    now,
    auditRow: hookAuditRow({ id: hookId, name: hookName }, { principal, at: now, action: "hook.reprocess" }),
  });
  if (queued === "no-such-delivery") throw noSuchDelivery();
  if (queued !== "queued") throw refused(REFUSALS[queued]);
  context.announceWork(target.kind);
  return { delivery: toDelivery({ ...found.delivery, status: "waiting", durationMs: 0, error: "" }) };
};

function refused(reason: string): ConnectError {
  return new ConnectError(`not processed again: ${reason}`, Code.FailedPrecondition);
}
