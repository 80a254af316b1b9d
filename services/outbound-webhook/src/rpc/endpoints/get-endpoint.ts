import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { endpointKey, requireEndpoint } from "../request-fields.ts";
import { toEndpoint } from "./endpoint-message.ts";

export const getEndpoint: Handler<Context, typeof EndpointService.method.getEndpoint> = async (
  { pool },
  { endpointId },
  call,
) => {
  const row = await requireEndpoint(pool, endpointKey(principalOf(call), endpointId));
  return { endpoint: toEndpoint(row) };
};
