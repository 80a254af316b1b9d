import type { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { fullCapOf } from "../../domain/full-cap.ts";
import { readHealth } from "../../store/log/health.ts";
import { backlogOf } from "../endpoints/endpoint-message.ts";
import { endpointKey, noSuchEndpoint } from "../request-fields.ts";
import { CAP } from "./delivery-message.ts";

/** Waiting deliveries are counted up to this number. */
const MAX_COUNTED = 10_000;

export const getEndpointBacklog: Handler<Context, typeof DeliveryService.method.getEndpointBacklog> = async (
  { pool, queue, now },
  request,
  call,
) => {
  const { workspaceId, endpointId } = endpointKey(principalOf(call), request.endpointId);
  const row = (await readHealth(pool, workspaceId, [endpointId], MAX_COUNTED)).get(endpointId);
  if (!row) throw noSuchEndpoint();
  const backlog = backlogOf(row, MAX_COUNTED, now());
  const { slots } = row;
  return {
    ...backlog,
    failing: slots.failing,
    ...("oldestDueAt" in backlog && { fullCap: CAP[fullCapOf(slots, queue.caps)] }),
  };
};
