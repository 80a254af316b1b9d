import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  AttemptResultSchema,
  EndpointHealthSchema,
  EndpointSchema,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { timestampOf } from "@toolgate/service-host/time";
import type { EndpointRow } from "../../store/endpoint.ts";
import type { HealthRow, ResultRow } from "../../store/log/health.ts";
import { STATUS } from "../deliveries/delivery-message.ts";

/** The waiting deliveries of each endpoint are counted up to this number: pages read this of 20 endpoints every few seconds. */
export const MAX_WAITING_COUNTED = 1_000;

export function toEndpoint(row: EndpointRow): MessageInitShape<typeof EndpointSchema> {
  const { id, createdAt, deactivatedAt, savedAt, ...rest } = row;
  return {
    ...rest,
    id: BigInt(id),
    createdAt: timestampOf(createdAt),
    savedAt: timestampOf(savedAt),
    ...(deactivatedAt && { deactivatedAt: timestampOf(deactivatedAt) }),
  };
}

export function toHealth(row: HealthRow, now: Date): MessageInitShape<typeof EndpointHealthSchema> {
  const { endpointId, lastResult, lastFailure } = row;
  return {
    endpointId: BigInt(endpointId),
    ...backlogOf(row, MAX_WAITING_COUNTED, now),
    ...(lastResult && { lastResult: toResult(lastResult) }),
    ...(lastFailure && { lastFailure: toResult(lastFailure) }),
  };
}

/** What waits for an endpoint, counted up to `max`, and what is under way. */
export function backlogOf({ waiting, firstDueAt, slots }: HealthRow, max: number, now: Date) {
  const isDue = firstDueAt !== null && firstDueAt <= now;
  return {
    waiting: Math.min(waiting, max),
    waitingIsMore: waiting > max,
    inFlight: slots.endpoint,
    ...(firstDueAt && (isDue ? { oldestDueAt: timestampOf(firstDueAt) } : { nextDueAt: timestampOf(firstDueAt) })),
  };
}

function toResult({ status, at, ...rest }: ResultRow): MessageInitShape<typeof AttemptResultSchema> {
  return { ...rest, status: STATUS[status], at: timestampOf(at) };
}
