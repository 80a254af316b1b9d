import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { readHealth } from "../../store/log/health.ts";
import { endpointKey, noSuchEndpoint, requireEndpoint } from "../request-fields.ts";
import { MAX_WAITING_COUNTED, toEndpoint, toHealth } from "./endpoint-message.ts";

export const getEndpoint: Handler<Context, typeof EndpointService.method.getEndpoint> = async (
  { pool, now },
  { endpointId },
  call,
) => {
  const key = endpointKey(principalOf(call), endpointId);
  const row = await requireEndpoint(pool, key);
  const health = (await readHealth(pool, key.workspaceId, [row.id], MAX_WAITING_COUNTED)).get(row.id);
  if (!health) throw noSuchEndpoint();
  return { endpoint: toEndpoint(row), health: toHealth(health, now()) };
};
