import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type ListUndeliveredRequest,
  type UndeliveredEventSchema,
  UndeliveredOrder,
  UndeliveredReason,
  type UndeliveredService,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import type { Handlers } from "@toolgate/service-host/handler";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { type Principal, principalOf } from "@toolgate/service-host/principal";
import { requestTime, timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../context.ts";
import { typesViolation } from "../domain/endpoint.ts";
import {
  countUndelivered,
  listUndelivered,
  type UndeliveredFilter,
  type UndeliveredPlace,
  type UndeliveredRow,
} from "../store/undelivered.ts";
import { endpointKey, invalidArgument, noSuchEndpoint, refuseIf, requireEndpoint } from "./request-fields.ts";

const REASON: Record<UndeliveredRow["reason"], UndeliveredReason> = {
  failed: UndeliveredReason.FAILED,
  cancelled: UndeliveredReason.CANCELLED,
  skipped: UndeliveredReason.SKIPPED,
};

const EVENT_ID = /^evt_[0-9a-f]{32}$/;

const MAX_EVENTS_COUNTED = 10_000;

export const undeliveredHandlers = {
  async listUndelivered({ pool }, request, call) {
    const principal = principalOf(call);
    const limit = pageSize(request.pageSize);
    const filter = filterOf(request, principal);
    const { workspaceId, endpointId } = filter;
    if (endpointId !== undefined) await requireEndpoint(pool, { workspaceId, endpointId });
    const rows = await listUndelivered(pool, { ...filter, limit: limit + 1 });
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      events: page.map(toUndeliveredEvent),
      nextPageToken: rows.length > limit && last ? tokenOf(last) : "",
    };
  },

  async countUndelivered({ pool }, request, call) {
    const principal = principalOf(call);
    const key = request.endpointId === 0n ? principal : endpointKey(principal, request.endpointId);
    const counts = await countUndelivered(pool, key, MAX_EVENTS_COUNTED + 1);
    if (request.endpointId !== 0n && counts.length === 0) throw noSuchEndpoint();
    return {
      counts: counts.map(({ endpointId, events }) => ({
        endpointId: BigInt(endpointId),
        events: Math.min(events, MAX_EVENTS_COUNTED),
        more: events > MAX_EVENTS_COUNTED,
      })),
    };
  },
} satisfies Handlers<Context, typeof UndeliveredService>;

function filterOf(request: ListUndeliveredRequest, principal: Principal): Omit<UndeliveredFilter, "limit"> {
  const { endpointId } = request;
  if (UndeliveredOrder[request.order] === undefined) throw invalidArgument("order: not a known value");
  const types = [...new Set(request.types)];
  refuseIf(typesViolation(types));
  return {
    workspaceId: principal.workspaceId,
    newestFirst: request.order !== UndeliveredOrder.OLDEST_FIRST,
    endpointId: endpointId === 0n ? undefined : endpointKey(principal, endpointId).endpointId,
    types: types.length > 0 ? types : undefined,
    from: requestTime("from", request.from),
    to: requestTime("to", request.to),
    after: placeOf(request.pageToken),
  };
}

function toUndeliveredEvent(row: UndeliveredRow): MessageInitShape<typeof UndeliveredEventSchema> {
  const { endpointId, reason, eventAt, undeliveredAt, ...rest } = row;
  return {
    ...rest,
    endpointId: BigInt(endpointId),
    reason: REASON[reason],
    eventAt: timestampOf(eventAt),
    undeliveredAt: timestampOf(undeliveredAt),
  };
}

function tokenOf({ eventAt, eventId, endpointId }: UndeliveredRow): string {
  return nextPageToken({ at: eventAt.toISOString(), event: eventId, endpoint: String(endpointId) });
}

function placeOf(token: string): UndeliveredPlace | undefined {
  const members = { at: CURSOR.time, event: EVENT_ID, endpoint: CURSOR.number };
  const cursor = parsePageToken<{ at: string; event: string; endpoint: string }>(token, members);
  return cursor && { at: new Date(cursor.at), eventId: cursor.event, endpointId: Number(cursor.endpoint) };
}
