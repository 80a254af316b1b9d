import type { DeliveryService, ListDeliveriesRequest } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { createdAtOf } from "@toolgate/postgres/timed-id";
import type { Handler } from "@toolgate/service-host/handler";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { type Principal, principalOf } from "@toolgate/service-host/principal";
import { requestTime } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import type { DeliveryFilter } from "../../domain/delivery-filter.ts";
import { readDeliveries } from "../../store/log/read.ts";
import { searchDeliveries } from "../../store/log/search.ts";
import { endpointKey, invalidArgument } from "../request-fields.ts";
import { kindName, statusNames, toDelivery } from "./delivery-message.ts";

const MAX_FILTER_CHARACTERS = 128;

export const listDeliveries: Handler<Context, typeof DeliveryService.method.listDeliveries> = async (
  context,
  request,
  call,
) => {
  const { pool, queue } = context;
  const filter = filterOf(request, principalOf(call));
  const limit = pageSize(request.pageSize);
  const before = parsePageToken<{ before: string }>(request.pageToken, { before: CURSOR.uuid })?.before;
  if (before !== undefined && !createdAtOf(before)) throw invalidArgument("page_token: not a token of this list");
  const search = { limit, before: before?.toLowerCase(), now: context.now() };
  const { ids, next } = await searchDeliveries(pool, filter, search);
  const rows = await readDeliveries(pool, ids);
  // Read the clock again: by the earlier time, a row that is already due could look as if it were waiting for a retry.
  const now = context.now();
  return {
    deliveries: rows.map((row) => toDelivery(row, queue.caps, now)),
    nextPageToken: next === undefined ? "" : nextPageToken({ before: next }),
  };
};

function filterOf(request: ListDeliveriesRequest, principal: Principal): DeliveryFilter {
  const { endpointId, eventId, eventType, requestId, createdFrom, createdTo } = request;
  return {
    workspaceId: principal.workspaceId,
    endpointId: endpointId === 0n ? undefined : endpointKey(principal, endpointId).endpointId,
    eventId: filterText("event_id", eventId),
    eventType: filterText("event_type", eventType),
    requestId: filterText("request_id", requestId),
    statuses: statusNames([request.status, ...request.statuses]),
    kind: kindName(request.kind),
    from: requestTime("created_from", createdFrom),
    to: requestTime("created_to", createdTo),
  };
}

/** Undefined when the request does not name one. Postgres refuses a NUL in a text. */
function filterText(name: string, text: string): string | undefined {
  if (text === "") return undefined;
  if (text.length <= MAX_FILTER_CHARACTERS && !text.includes("\0")) return text;
  throw invalidArgument(`${name}: at most ${MAX_FILTER_CHARACTERS} characters, without NUL`);
}
