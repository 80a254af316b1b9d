import { Code, ConnectError } from "@connectrpc/connect";
import type { HookDeliveryService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { ReceiverContext } from "../../context.ts";
import { findDelivery } from "../../store/log/read.ts";
import { queueAgain, type Reprocessing } from "../../store/runs/reprocess.ts";
import { auditHook } from "../record-change.ts";
import { noSuchDelivery, toDelivery } from "./delivery-message.ts";

const REFUSALS = {
  "hook-deleted": "the hook was deleted",
  "not-ended": "the delivery waits or runs",
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
  const { lane } = await inTransaction(context.pool, async (db): Promise<Reprocessing> => {
    const at = context.now();
    const request = { workspaceId, deliveryId, requestedBy: principal.email, now: at };
    const queued = await queueAgain(db, context.queues, request);
    if (queued === "no-such-delivery") throw noSuchDelivery();
    if (typeof queued === "string") throw refused(REFUSALS[queued]);
    await auditHook(db, queued.hook, { principal, at, action: "hook.reprocess" });
    return queued;
  });
  context.announceWork(lane);
  const found = await findDelivery(context.pool, workspaceId, deliveryId);
  if (!found) throw noSuchDelivery();
  return { delivery: toDelivery(found.delivery) };
};

function refused(reason: string): ConnectError {
  return new ConnectError(`not processed again: ${reason}`, Code.FailedPrecondition);
}
