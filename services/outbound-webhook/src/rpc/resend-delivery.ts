import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import type { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { principalOf } from "@toolgate/service-host/principal";
import type { SingleDeliveryStore } from "../store/deliveries/single-delivery.ts";
import { noSuchDelivery } from "./delivery-message.ts";

export function resendDelivery(deps: {
  deliveries: Pick<SingleDeliveryStore, "addResend">;
  announceWork: () => void;
  now: () => Date;
}): ServiceImpl<typeof DeliveryService>["resendDelivery"] {
  const { deliveries, announceWork, now } = deps;
  return async (request, context) => {
    const result = await deliveries.addResend(principalOf(context).workspaceId, request.deliveryId, now());
    if (result === "no-such-delivery") throw noSuchDelivery();
    if (result === "endpoint-inactive") {
      throw new ConnectError("the endpoint is inactive or deleted", Code.FailedPrecondition);
    }
    announceWork();
    return { deliveryId: result.deliveryId };
  };
}
