import { webhookTest } from "@toolgate/event-schemas/types/webhook-test";
import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { envelopeBytes } from "../../domain/envelope.ts";
import { newEventId } from "../../domain/incoming-event.ts";
import { endpointKey, noSuchEndpoint } from "../request-fields.ts";

const MESSAGE = "This is a test event.";

export const sendTestEvent: Handler<Context, typeof EndpointService.method.sendTestEvent> = async (
  { deliveries, announceWork, now },
  { endpointId },
  call,
) => {
  const { workspaceId, workspace, email } = principalOf(call);
  const key = endpointKey({ workspaceId }, endpointId);
  const at = now();
  const id = newEventId();
  const body = envelopeBytes({
    id,
    type: webhookTest.type,
    createdSeconds: Math.floor(at.getTime() / 1000),
    workspace,
    dataJson: JSON.stringify({ message: MESSAGE, endpoint_id: key.endpointId, triggered_by: email }),
  });
  if (!body) throw new Error("the test event is too large");
  const deliveryId = await deliveries.addTest(key, { id, body }, at);
  if (!deliveryId) throw noSuchEndpoint();
  announceWork();
  return { deliveryId };
};
