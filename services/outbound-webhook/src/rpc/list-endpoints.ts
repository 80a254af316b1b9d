import type { ServiceImpl } from "@connectrpc/connect";
import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import type { Pool } from "@toolgate/postgres/pool";
import { principalOf } from "@toolgate/service-host/principal";
import { listEndpoints as listRows } from "../store/endpoint.ts";
import { toEndpoint } from "./endpoint-message.ts";

export function listEndpoints(deps: { pool: Pool }): ServiceImpl<typeof EndpointService>["listEndpoints"] {
  return async (_request, context) => {
    const rows = await listRows(deps.pool, principalOf(context).workspaceId);
    return { endpoints: rows.map(toEndpoint) };
  };
}
