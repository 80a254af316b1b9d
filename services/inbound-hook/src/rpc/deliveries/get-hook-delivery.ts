import type { HookDeliveryService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { ReceiverContext } from "../../context.ts";
import { shownBody } from "../../domain/log/shown-body.ts";
import { findDelivery } from "../../store/log/read.ts";
import { noSuchDelivery, toDelivery, toRun } from "./delivery-message.ts";

export const getHookDelivery: Handler<ReceiverContext, typeof HookDeliveryService.method.getHookDelivery> = async (
  { pool },
  { deliveryId },
  call,
) => {
  const found = await findDelivery(pool, principalOf(call).workspaceId, deliveryId);
  if (!found) throw noSuchDelivery();
  return {
    delivery: toDelivery(found.delivery),
    body: shownBody(found.body, found.contentType),
    contentType: found.contentType,
    headers: found.headers,
    hookRuns: found.hookRuns.map(toRun),
  };
};
