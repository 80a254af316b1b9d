import { eventTypeOf, isSubscribable } from "@toolgate/event-schemas/catalogue";
import { webhookTest } from "@toolgate/event-schemas/types/webhook-test";
import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { envelopeBytes } from "../../domain/envelope.ts";
import { newEventId } from "../../domain/incoming-event.ts";
import { addTest } from "../../store/deliveries/single-delivery.ts";
import { endpointKey, invalidArgument, noSuchEndpoint } from "../request-fields.ts";

const MESSAGE = "This is a test event.";

export const sendTestEvent: Handler<Context, typeof EndpointService.method.sendTestEvent> = async (
  { queuePool, queue, announceWork, now },
  { endpointId, type },
  call,
) => {
  const { workspaceId, workspace, email } = principalOf(call);
  const key = endpointKey({ workspaceId }, endpointId);
  const at = now();
  const id = newEventId();
  const isTest = type === "" || type === webhookTest.type;
  const kind = isTest ? webhookTest : eventTypeOf(type);
  if (!kind || (!isTest && !isSubscribable(type))) throw invalidArgument("type: not in the catalogue");
  const data = isTest ? { message: MESSAGE, endpoint_id: key.endpointId, triggered_by: email } : kind.example;
  const event = { id, type: isTest ? webhookTest.type : type };
  const body = envelopeBytes({
    ...event,
    createdSeconds: Math.floor(at.getTime() / 1000),
    workspace,
    dataJson: JSON.stringify(data),
  });
  if (!body) throw new Error("the test event is too large");
  const deliveryId = await addTest(queuePool, queue, key, { ...event, body }, at);
  if (!deliveryId) throw noSuchEndpoint();
  announceWork();
  return { deliveryId };
};
