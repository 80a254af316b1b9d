import { Code, ConnectError } from "@connectrpc/connect";
import type { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { MAX_SENT_AGAIN } from "../../store/deliveries/add.ts";
import { addResend } from "../../store/deliveries/single-delivery.ts";
import { noSuchDelivery } from "./delivery-message.ts";

export const resendDelivery: Handler<Context, typeof DeliveryService.method.resendDelivery> = async (
  { queuePool, queue, announceWork, now },
  request,
  call,
) => {
  const { workspaceId } = principalOf(call);
  const result = await addResend(queuePool, queue, { workspaceId, deliveryId: request.deliveryId }, now());
  if (result === "no-such-delivery") throw noSuchDelivery();
  if (result === "endpoint-inactive") {
    throw new ConnectError("the endpoint is inactive or deleted", Code.FailedPrecondition);
  }
  if (result === "sent-too-often") {
    const limit = `an event can be sent to an endpoint again at most ${MAX_SENT_AGAIN} times`;
    throw new ConnectError(limit, Code.ResourceExhausted);
  }
  announceWork();
  return { deliveryId: result.deliveryId };
};
