import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import type { UndeliveredService } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import { principalOf } from "@toolgate/service-host/principal";
import { findEndpoint, lockWorkspace } from "../store/endpoint.ts";
import { settlePulled } from "../store/undelivered/pull.ts";
import { endpointKey, noSuchEndpoint } from "./endpoint-message.ts";

const MAX_EVENTS_PER_CALL = 1_000;
const MAX_EVENT_ID_CHARACTERS = 128;

export function acknowledgeUndelivered(deps: {
  pool: Pool;
  announceWork: () => void;
  now: () => Date;
}): ServiceImpl<typeof UndeliveredService>["acknowledgeUndelivered"] {
  const { pool, announceWork, now } = deps;
  return async (request, context) => {
    const principal = principalOf(context);
    const key = endpointKey(principal, request.endpointId);
    const eventIds = [...new Set(request.eventIds)];
    refuseIds(eventIds);
    const settled = await inTransaction(pool, async (client) => {
      await lockWorkspace(client, key.workspaceId);
      if (!(await findEndpoint(client, key))) throw noSuchEndpoint();
      return settlePulled(client, key.endpointId, eventIds, { by: principal.email, now: now() });
    });
    // A dispatcher that came by while the workspace was locked has left it out.
    announceWork();
    const known = new Set(settled);
    return {
      acknowledged: settled.length,
      ignoredEventIds: eventIds.filter((eventId) => !known.has(eventId)),
    };
  };
}

function refuseIds(eventIds: readonly string[]): void {
  if (eventIds.length === 0 || eventIds.length > MAX_EVENTS_PER_CALL) {
    throw new ConnectError(`event_ids: from 1 to ${MAX_EVENTS_PER_CALL}`, Code.InvalidArgument);
  }
  if (eventIds.some((id) => id.length > MAX_EVENT_ID_CHARACTERS || id.includes("\0"))) {
    throw new ConnectError("event_ids: not event ids", Code.InvalidArgument);
  }
}
