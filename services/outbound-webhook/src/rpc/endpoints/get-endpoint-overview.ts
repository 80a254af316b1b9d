import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { firstOfHours, timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { listEndpoints } from "../../store/endpoint.ts";
import { readHealth } from "../../store/log/health.ts";
import { countDeliveriesByHour, hasTestDelivery } from "../../store/overview.ts";
import { countUndelivered } from "../../store/undelivered.ts";
import { MAX_WAITING_COUNTED, toEndpoint, toHealth } from "./endpoint-message.ts";

/** Of each endpoint: pages ask every few seconds. */
const MAX_UNDELIVERED_COUNTED = 1_000;

export const getEndpointOverview: Handler<Context, typeof EndpointService.method.getEndpointOverview> = async (
  { pool, now },
  _request,
  call,
) => {
  const { workspaceId } = principalOf(call);
  const at = now();
  const firstHour = firstOfHours(at.getTime());
  const [deliveries, endpoints, undelivered, hasTest] = await Promise.all([
    countDeliveriesByHour(pool, workspaceId, firstHour),
    listEndpoints(pool, workspaceId, { search: "", status: undefined }),
    countUndelivered(pool, { workspaceId }, MAX_UNDELIVERED_COUNTED + 1),
    hasTestDelivery(pool, workspaceId),
  ]);
  const missed = new Map(undelivered.map(({ endpointId, events }) => [endpointId, events]));
  const noted = endpoints.filter(({ id, active }) => !active || (missed.get(id) ?? 0) > 0);
  const ids = noted.map(({ id }) => id);
  const health = ids.length > 0 ? await readHealth(pool, workspaceId, ids, MAX_WAITING_COUNTED) : undefined;
  return {
    firstHour: timestampOf(firstHour),
    deliveries,
    notices: noted.map((endpoint) => {
      const [events, found] = [missed.get(endpoint.id) ?? 0, health?.get(endpoint.id)];
      const lastFailure = found && toHealth(found, at).lastFailure;
      return {
        endpoint: toEndpoint(endpoint),
        ...(lastFailure && { lastFailure }),
        undelivered: Math.min(events, MAX_UNDELIVERED_COUNTED),
        undeliveredIsMore: events > MAX_UNDELIVERED_COUNTED,
      };
    }),
    hasEndpoint: endpoints.length > 0,
    hasTest,
  };
};
