import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import { principalOf } from "@toolgate/service-host/principal";
import { faultOfDescription, faultOfEvents } from "../domain/endpoint-input.ts";
import type { CheckUrl } from "../domain/url-rules.ts";
import { type EndpointKey, findEndpoint, lockWorkspace, updateEndpoint as updateRow } from "../store/endpoint.ts";
import { deedsBetween, recordEndpointDeed } from "./audit.ts";
import { endpointKey, noSuchEndpoint, refuseFault, toEndpoint } from "./endpoint-message.ts";

export function updateEndpoint(deps: {
  pool: Pool;
  checkUrl: CheckUrl;
  cancelWaiting: (key: EndpointKey, now: Date) => Promise<void>;
  announceWork: () => void;
  now: () => Date;
}): ServiceImpl<typeof EndpointService>["updateEndpoint"] {
  const { pool, checkUrl, cancelWaiting, announceWork, now } = deps;
  return async (request, context) => {
    const principal = principalOf(context);
    const key = endpointKey(principal, request.endpointId);
    const events = request.events && [...new Set(request.events.types)];
    const { description, active } = request;
    refuseFault(events && faultOfEvents(events));
    refuseFault(description === undefined ? undefined : faultOfDescription(description));
    const target = request.url === undefined ? undefined : await checkUrl(request.url);
    if (target && !target.ok) throw new ConnectError(target.fault, Code.InvalidArgument);
    const row = await inTransaction(pool, async (client) => {
      await lockWorkspace(client, key.workspaceId);
      const at = now();
      const before = await findEndpoint(client, key);
      const after = await updateRow(client, key, {
        now: at,
        ...(target && { url: target.url }),
        ...(events && { events }),
        ...(description !== undefined && { description }),
        ...(active !== undefined && { active }),
      });
      if (!before || !after) return undefined;
      for (const deed of deedsBetween(before, after)) {
        await recordEndpointDeed(client, after, { principal, at, ...deed });
      }
      return after;
    });
    // A dispatcher passes over a workspace that it finds locked.
    announceWork();
    if (!row) throw noSuchEndpoint();
    if (!row.active) await cancelWaiting(key, now());
    return { endpoint: toEndpoint(row) };
  };
}
