import type { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { fullCapOf } from "../../domain/waiting.ts";
import { MAX_COUNTED, readEndpointBacklog } from "../../store/log/backlog.ts";
import { endpointKey, noSuchEndpoint } from "../request-fields.ts";
import { CAP } from "./delivery-message.ts";

export const getEndpointBacklog: Handler<Context, typeof DeliveryService.method.getEndpointBacklog> = async (
  { pool, queue, now },
  { endpointId },
  call,
) => {
  const backlog = await readEndpointBacklog(pool, endpointKey(principalOf(call), endpointId));
  if (!backlog) throw noSuchEndpoint();
  const { waiting, firstDueAt, slots } = backlog;
  const due = firstDueAt !== null && firstDueAt <= now();
  return {
    waiting: Math.min(waiting, MAX_COUNTED),
    waitingIsMore: waiting > MAX_COUNTED,
    inFlight: slots.endpoint,
    failing: slots.failing,
    ...(firstDueAt && { [due ? "oldestDueAt" : "nextDueAt"]: timestampOf(firstDueAt) }),
    ...(due && { fullCap: CAP[fullCapOf(slots, queue.caps)] }),
  };
};
