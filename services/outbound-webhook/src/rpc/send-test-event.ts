import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { principalOf } from "@toolgate/service-host/principal";
import { TEST_TYPE } from "../domain/catalogue.ts";
import { envelopeBytes } from "../domain/envelope.ts";
import { newEventId } from "../domain/incoming-event.ts";
import type { SingleDeliveryStore } from "../store/deliveries/single-delivery.ts";
import { endpointKey, noSuchEndpoint } from "./endpoint-message.ts";

const MESSAGE = "This is a test event.";

export function sendTestEvent(deps: {
  deliveries: Pick<SingleDeliveryStore, "addTest">;
  announceWork: () => void;
  now: () => Date;
}): ServiceImpl<typeof EndpointService>["sendTestEvent"] {
  const { deliveries, announceWork, now } = deps;
  return async (request, context) => {
    const principal = principalOf(context);
    const key = endpointKey(principal, request.endpointId);
    const at = now();
    const id = newEventId();
    const data = { message: MESSAGE, endpoint_id: key.endpointId, triggered_by: principal.email };
    const body = envelopeBytes({
      id,
      type: TEST_TYPE,
      createdSeconds: Math.floor(at.getTime() / 1000),
      workspace: principal.workspace,
      dataJson: JSON.stringify(data),
    });
    if (!body) throw new ConnectError("the test event is too large", Code.Internal);
    const deliveryId = await deliveries.addTest(key, { id, body }, at);
    if (!deliveryId) throw noSuchEndpoint();
    announceWork();
    return { deliveryId };
  };
}
