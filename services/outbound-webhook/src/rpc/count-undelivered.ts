import type { ServiceImpl } from "@connectrpc/connect";
import type { UndeliveredService } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import type { Pool } from "@toolgate/postgres/pool";
import { principalOf } from "@toolgate/service-host/principal";
import { countUndelivered as countRows } from "../store/undelivered/list.ts";
import { endpointKey, noSuchEndpoint } from "./endpoint-message.ts";

const MAX_EVENTS_COUNTED = 10_000;

export function countUndelivered(deps: { pool: Pool }): ServiceImpl<typeof UndeliveredService>["countUndelivered"] {
  return async (request, context) => {
    const principal = principalOf(context);
    const key = request.endpointId === 0n ? principal : endpointKey(principal, request.endpointId);
    const counts = await countRows(deps.pool, key, MAX_EVENTS_COUNTED + 1);
    if (request.endpointId !== 0n && counts.length === 0) throw noSuchEndpoint();
    return {
      counts: counts.map(({ endpointId, events }) => ({
        endpointId: BigInt(endpointId),
        events: Math.min(events, MAX_EVENTS_COUNTED),
        more: events > MAX_EVENTS_COUNTED,
      })),
    };
  };
}
