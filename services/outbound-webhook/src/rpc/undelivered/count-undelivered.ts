import type { UndeliveredService } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { countUndelivered as countRows } from "../../store/undelivered.ts";
import { endpointKey, noSuchEndpoint } from "../request-fields.ts";

const MAX_EVENTS_COUNTED = 10_000;

export const countUndelivered: Handler<Context, typeof UndeliveredService.method.countUndelivered> = async (
  { pool },
  request,
  call,
) => {
  const principal = principalOf(call);
  const key = request.endpointId === 0n ? principal : endpointKey(principal, request.endpointId);
  const counts = await countRows(pool, key, MAX_EVENTS_COUNTED + 1);
  if (request.endpointId !== 0n && counts.length === 0) throw noSuchEndpoint();
  return {
    counts: counts.map(({ endpointId, events }) => ({
      endpointId: BigInt(endpointId),
      events: Math.min(events, MAX_EVENTS_COUNTED),
      more: events > MAX_EVENTS_COUNTED,
    })),
  };
};
