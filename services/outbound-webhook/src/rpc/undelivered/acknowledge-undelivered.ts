import type { UndeliveredService } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { lockWorkspace } from "../../store/endpoint.ts";
import { markPulled } from "../../store/undelivered/pull.ts";
import { endpointKey, invalidArgument, requireEndpoint } from "../request-fields.ts";

const MAX_EVENTS_PER_CALL = 1_000;
const MAX_EVENT_ID_CHARACTERS = 128;

export const acknowledgeUndelivered: Handler<Context, typeof UndeliveredService.method.acknowledgeUndelivered> = async (
  { pool, announceWork, now },
  request,
  call,
) => {
  const principal = principalOf(call);
  const key = endpointKey(principal, request.endpointId);
  const eventIds = [...new Set(request.eventIds)];
  if (eventIds.length === 0 || eventIds.length > MAX_EVENTS_PER_CALL) {
    throw invalidArgument(`event_ids: from 1 to ${MAX_EVENTS_PER_CALL}`);
  }
  if (eventIds.some((id) => id.length > MAX_EVENT_ID_CHARACTERS || id.includes("\0"))) {
    throw invalidArgument("event_ids: one is not an event id");
  }
  const settled = await inTransaction(pool, async (client) => {
    await lockWorkspace(client, key.workspaceId);
    await requireEndpoint(client, key);
    return markPulled(client, key.endpointId, eventIds, { by: principal.email, now: now() });
  });
  // A dispatcher skips a workspace while it is locked.
  announceWork();
  const known = new Set(settled);
  return {
    acknowledged: settled.length,
    ignoredEventIds: eventIds.filter((eventId) => !known.has(eventId)),
  };
};
