import type { ServiceImpl } from "@connectrpc/connect";
import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import type { Pool } from "@toolgate/postgres/pool";
import { principalOf } from "@toolgate/service-host/principal";
import { findEndpoint } from "../store/endpoint.ts";
import { endpointKey, noSuchEndpoint, toEndpoint } from "./endpoint-message.ts";

export function getEndpoint(deps: { pool: Pool }): ServiceImpl<typeof EndpointService>["getEndpoint"] {
  return async (request, context) => {
    const row = await findEndpoint(deps.pool, endpointKey(principalOf(context), request.endpointId));
    if (!row) throw noSuchEndpoint();
    return { endpoint: toEndpoint(row) };
  };
}
