import type { ServiceImpl } from "@connectrpc/connect";
import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import { principalOf } from "@toolgate/service-host/principal";
import { deleteEndpoint as deleteRow, type EndpointKey, findEndpoint, lockWorkspace } from "../store/endpoint.ts";
import { recordEndpointDeed } from "./audit.ts";
import { endpointKey, noSuchEndpoint } from "./endpoint-message.ts";

export function deleteEndpoint(deps: {
  pool: Pool;
  cancelWaiting: (key: EndpointKey, now: Date) => Promise<void>;
  announceWork: () => void;
  now: () => Date;
}): ServiceImpl<typeof EndpointService>["deleteEndpoint"] {
  const { pool, cancelWaiting, announceWork, now } = deps;
  return async (request, context) => {
    const principal = principalOf(context);
    const key = endpointKey(principal, request.endpointId);
    const deleted = await inTransaction(pool, async (client) => {
      await lockWorkspace(client, key.workspaceId);
      const at = now();
      const endpoint = await findEndpoint(client, key);
      if (!endpoint || !(await deleteRow(client, key, at))) return false;
      await recordEndpointDeed(client, endpoint, { principal, at, action: "endpoint.delete" });
      return true;
    });
    // A dispatcher passes over a workspace that it finds locked.
    announceWork();
    if (!deleted) throw noSuchEndpoint();
    await cancelWaiting(key, now());
    return {};
  };
}
