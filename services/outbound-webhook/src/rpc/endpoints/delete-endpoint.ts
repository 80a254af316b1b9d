import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { deleteEndpoint as deleteRow, findEndpoint, lockWorkspace } from "../../store/endpoint.ts";
import { auditEndpoint } from "../audit.ts";
import { endpointKey, noSuchEndpoint } from "../request-fields.ts";

export const deleteEndpoint: Handler<Context, typeof EndpointService.method.deleteEndpoint> = async (
  { pool, cancelWakeUp, announceWork, now },
  { endpointId },
  call,
) => {
  const principal = principalOf(call);
  const key = endpointKey(principal, endpointId);
  const deleted = await inTransaction(pool, async (client) => {
    await lockWorkspace(client, key.workspaceId);
    const at = now();
    const endpoint = await findEndpoint(client, key);
    if (!endpoint || !(await deleteRow(client, key, at))) return false;
    await auditEndpoint(client, endpoint, { principal, at, action: "endpoint.delete" });
    return true;
  });
  // A dispatcher skips a workspace while it is locked.
  announceWork();
  if (!deleted) throw noSuchEndpoint();
  cancelWakeUp.signal();
  return {};
};
