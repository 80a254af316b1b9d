import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import { editConflict } from "@toolgate/service-host/edit-conflict";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { descriptionViolation, eventsViolation, toolsViolation } from "../../domain/endpoint.ts";
import { type EndpointRow, findEndpoint, lockWorkspace, updateEndpoint as updateRow } from "../../store/endpoint.ts";
import { auditEndpoint } from "../audit.ts";
import { endpointKey, invalidArgument, noSuchEndpoint, refuseIf } from "../request-fields.ts";
import { customHeaders, sealHeaders } from "./custom-headers.ts";
import { toEndpoint } from "./endpoint-message.ts";

export const updateEndpoint: Handler<Context, typeof EndpointService.method.updateEndpoint> = async (
  { pool, checkUrl, secretBox, cancelWakeUp, announceWork, now },
  request,
  call,
) => {
  const principal = principalOf(call);
  const key = endpointKey(principal, request.endpointId);
  const events = request.events && [...new Set(request.events.types)];
  const { description, active, expectedVersion } = request;
  refuseIf(events && eventsViolation(events));
  const tools = request.tools && [...new Set(request.tools.names)];
  refuseIf(tools && toolsViolation(tools));
  const headers = request.headers && sealHeaders(secretBox, key.endpointId, customHeaders(request.headers));
  refuseIf(description === undefined ? undefined : descriptionViolation(description));
  const target = request.url === undefined ? undefined : await checkUrl(request.url, key.workspaceId);
  if (target && !target.ok) throw invalidArgument(target.violation);
  const updated = await inTransaction(pool, async (client) => {
    await lockWorkspace(client, key.workspaceId);
    const at = now();
    const before = await findEndpoint(client, key);
    if (before && expectedVersion !== undefined && before.version !== expectedVersion) throw editConflict(before);
    const change = { url: target?.url.href, events, description, active, tools, headers };
    const after = await updateRow(client, key, { ...change, now: at, savedBy: principal.email });
    if (!before || !after) return undefined;
    const fields = changedFields(before, after);
    // Values are sealed, so whether they differ is not known.
    if (headers) fields.push("headers");
    if (fields.length > 0) await auditEndpoint(client, after, { principal, at, action: "endpoint.edit", fields });
    if (before.active !== after.active) {
      const action = after.active ? "endpoint.activate" : "endpoint.deactivate";
      await auditEndpoint(client, after, { principal, at, action, fields: ["active"] });
    }
    return { row: after, deactivated: before.active && !after.active };
  });
  // A dispatcher skips a workspace while it is locked.
  announceWork();
  if (!updated) throw noSuchEndpoint();
  if (updated.deactivated) cancelWakeUp.signal();
  return { endpoint: toEndpoint(updated.row) };
};

function changedFields(before: EndpointRow, after: EndpointRow): string[] {
  const fields = ["url", "events", "description", "tools"] as const;
  return fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
}
