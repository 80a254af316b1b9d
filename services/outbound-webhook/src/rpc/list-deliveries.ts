import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import type { DeliveryService, ListDeliveriesRequest } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { QueueCaps } from "@toolgate/postgres/fair-queue/caps";
import type { Pool } from "@toolgate/postgres/pool";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { type Principal, principalOf } from "@toolgate/service-host/principal";
import type { DeliveryFilter } from "../domain/delivery-filter.ts";
import { createdAtOf } from "../domain/delivery-id.ts";
import { readDeliveries } from "../store/log/read.ts";
import { searchDeliveries } from "../store/log/search.ts";
import { kindName, statusNames, toDelivery } from "./delivery-message.ts";
import { endpointKey } from "./endpoint-message.ts";

const MAX_FILTER_CHARACTERS = 128;

export function listDeliveries(deps: {
  pool: Pool;
  caps: QueueCaps;
  now: () => Date;
}): ServiceImpl<typeof DeliveryService>["listDeliveries"] {
  const { pool, caps } = deps;
  return async (request, context) => {
    const filter = filterOf(request, principalOf(context));
    const limit = pageSize(request.pageSize);
    const before = parsePageToken<{ before: string }>(request.pageToken, { before: CURSOR.uuid })?.before;
    if (before !== undefined && !createdAtOf(before)) {
      throw new ConnectError("page_token: not a token of this list", Code.InvalidArgument);
    }
    const search = { limit, before: before?.toLowerCase(), now: deps.now() };
    const { ids, next } = await searchDeliveries(pool, filter, search);
    const rows = await readDeliveries(pool, ids, search.now);
    // Later than all that was read: what came in meanwhile is due, and does not wait for a retry.
    const now = deps.now();
    return {
      deliveries: rows.map((row) => toDelivery(row, caps, now)),
      nextPageToken: next === undefined ? "" : nextPageToken({ before: next }),
    };
  };
}

function filterOf(request: ListDeliveriesRequest, principal: Principal): DeliveryFilter {
  const { endpointId, eventId, eventType, createdFrom, createdTo } = request;
  const statuses = statusNames([request.status, ...request.statuses]);
  const kind = kindName(request.kind);
  refuseOverlong({ event_id: eventId, event_type: eventType });
  return {
    workspaceId: principal.workspaceId,
    ...(endpointId !== 0n && { endpointId: endpointKey(principal, endpointId).endpointId }),
    ...(eventId !== "" && { eventId }),
    ...(eventType !== "" && { eventType }),
    ...(statuses && { statuses }),
    ...(kind && { kind }),
    ...(createdFrom && { from: timeOf("created_from", createdFrom) }),
    ...(createdTo && { to: timeOf("created_to", createdTo) }),
  };
}

/** What no row holds is no reason to ask the database, which would refuse a NUL. */
function refuseOverlong(texts: Record<string, string>): void {
  for (const [name, text] of Object.entries(texts)) {
    if (text.length > MAX_FILTER_CHARACTERS || text.includes("\0")) {
      throw new ConnectError(`${name}: not a value of the log`, Code.InvalidArgument);
    }
  }
}

function timeOf(name: string, timestamp: Timestamp): Date {
  const time = timestampDate(timestamp);
  if (Number.isNaN(time.getTime())) throw new ConnectError(`${name}: not a time`, Code.InvalidArgument);
  return time;
}
