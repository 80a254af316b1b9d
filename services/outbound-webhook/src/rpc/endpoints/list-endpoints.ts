import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { listEndpoints as listRows } from "../../store/endpoint.ts";
import { toEndpoint } from "./endpoint-message.ts";

export const listEndpoints: Handler<Context, typeof EndpointService.method.listEndpoints> = async (
  { pool },
  _request,
  call,
) => {
  const rows = await listRows(pool, principalOf(call).workspaceId);
  return { endpoints: rows.map(toEndpoint) };
};
