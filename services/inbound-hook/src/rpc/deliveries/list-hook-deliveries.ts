import type {
  HookDeliveryService,
  ListHookDeliveriesRequest,
} from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { searchLog } from "@toolgate/postgres/log-search";
import { createdAtOf } from "@toolgate/postgres/timed-id";
import type { Handler } from "@toolgate/service-host/handler";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { type Principal, principalOf } from "@toolgate/service-host/principal";
import { requestTime } from "@toolgate/service-host/time";
import type { ReceiverContext } from "../../context.ts";
import { isHookOf, readDeliveries } from "../../store/log/read.ts";
import { type DeliveryFilter, scansFor } from "../../store/log/scans.ts";
import { hookKey, invalidArgument } from "../request-fields.ts";
import { statusesOf, toDelivery } from "./delivery-message.ts";

const MAX_FILTER_CHARACTERS = 255;

export const listHookDeliveries: Handler<
  ReceiverContext,
  typeof HookDeliveryService.method.listHookDeliveries
> = async ({ pool, now }, request, call) => {
  const filter = filterOf(request, principalOf(call));
  const [from, to] = [
    requestTime("received_from", request.receivedFrom),
    requestTime("received_to", request.receivedTo),
  ];
  const limit = pageSize(request.pageSize);
  const before = parsePageToken<{ before: string }>(request.pageToken, { before: CURSOR.uuid })?.before;
  if (before !== undefined && !createdAtOf(before)) throw invalidArgument("page_token: not a token of this list");
  // Otherwise, the duration of the search would reveal how busy another workspace's hook is.
  if (filter.hookId !== undefined && !(await isHookOf(pool, filter.workspaceId, filter.hookId))) return {};
  const { ids, next } = await searchLog(pool, (db) => scansFor(db, filter), {
    limit,
    before: before?.toLowerCase(),
    now: now(),
    ...(from && { from }),
    ...(to && { to }),
  });
  const rows = await readDeliveries(pool, ids);
  return {
    deliveries: rows.map(toDelivery),
    nextPageToken: next === undefined ? "" : nextPageToken({ before: next }),
  };
};

function filterOf(request: ListHookDeliveriesRequest, principal: Principal): DeliveryFilter {
  const { hookId, externalId, requestId } = request;
  const statuses = statusesOf(request.statuses);
  return {
    workspaceId: principal.workspaceId,
    ...(hookId !== 0n && { hookId: hookKey(principal, hookId).hookId }),
    ...(statuses && { statuses }),
    ...(externalId !== "" && { externalId: filterText("external_id", externalId) }),
    ...(requestId !== "" && { requestId: filterText("request_id", requestId) }),
  };
}

/** Postgres refuses NUL in text. */
function filterText(name: string, text: string): string {
  if (text.length <= MAX_FILTER_CHARACTERS && !text.includes("\0")) return text;
  throw invalidArgument(`${name}: at most ${MAX_FILTER_CHARACTERS} characters, without NUL`);
}
