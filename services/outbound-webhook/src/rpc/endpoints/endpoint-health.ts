import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AttemptResultSchema, EndpointHealthSchema } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { timestampOf } from "@toolgate/service-host/time";
import { type HealthRow, MAX_WAITING_COUNTED, type ResultRow } from "../../store/log/health.ts";
import { STATUS } from "../deliveries/delivery-message.ts";

export function toHealth(row: HealthRow, now: Date): MessageInitShape<typeof EndpointHealthSchema> {
  const { endpointId, waiting, firstDueAt, inFlight, lastResult, lastFailure } = row;
  const isDue = firstDueAt !== null && firstDueAt <= now;
  return {
    endpointId: BigInt(endpointId),
    waiting: Math.min(waiting, MAX_WAITING_COUNTED),
    waitingIsMore: waiting > MAX_WAITING_COUNTED,
    inFlight,
    ...(firstDueAt && { [isDue ? "oldestDueAt" : "nextDueAt"]: timestampOf(firstDueAt) }),
    ...(lastResult && { lastResult: toResult(lastResult) }),
    ...(lastFailure && { lastFailure: toResult(lastFailure) }),
  };
}

function toResult({ status, at, ...rest }: ResultRow): MessageInitShape<typeof AttemptResultSchema> {
  return { ...rest, status: STATUS[status], at: timestampOf(at) };
}
