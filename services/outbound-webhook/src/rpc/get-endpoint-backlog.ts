import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { QueueCaps } from "@toolgate/postgres/fair-queue/caps";
import type { Pool } from "@toolgate/postgres/pool";
import { principalOf } from "@toolgate/service-host/principal";
import { fullCapOf } from "../domain/waiting.ts";
import { MAX_COUNTED, readEndpointBacklog } from "../store/log/backlog.ts";
import { CAP } from "./delivery-message.ts";
import { endpointKey, noSuchEndpoint } from "./endpoint-message.ts";

export function getEndpointBacklog(deps: {
  pool: Pool;
  caps: QueueCaps;
  now: () => Date;
}): ServiceImpl<typeof DeliveryService>["getEndpointBacklog"] {
  const { pool, caps, now } = deps;
  return async (request, context) => {
    const backlog = await readEndpointBacklog(pool, endpointKey(principalOf(context), request.endpointId), now());
    if (!backlog) throw noSuchEndpoint();
    const { waiting, firstDueAt, slots } = backlog;
    const due = firstDueAt !== null && firstDueAt <= now();
    return {
      waiting: Math.min(waiting, MAX_COUNTED),
      waitingIsMore: waiting > MAX_COUNTED,
      inFlight: slots.endpoint,
      failing: slots.failing,
      ...(firstDueAt && { [due ? "oldestDueAt" : "nextDueAt"]: timestampFromDate(firstDueAt) }),
      ...(due && { fullCap: CAP[fullCapOf(slots, caps)] }),
    };
  };
}
