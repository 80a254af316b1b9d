import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type Attempt,
  AttemptSchema,
  Cap,
  type Delivery,
  DeliveryKind,
  DeliverySchema,
  DeliveryStatus,
  Wait,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { QueueCaps } from "@toolgate/postgres/fair-queue/caps";
import type { DeliveryKindName, DeliveryStatusName } from "../domain/delivery-filter.ts";
import type { SentHeaders } from "../domain/sent-headers.ts";
import { type FullCap, type Waiting, waitingOf } from "../domain/waiting.ts";
import type { AttemptRow, DeliveryRow } from "../store/log/read.ts";

const STATUS: Record<DeliveryStatusName, DeliveryStatus> = {
  pending: DeliveryStatus.PENDING,
  retrying: DeliveryStatus.RETRYING,
  delivered: DeliveryStatus.DELIVERED,
  failed: DeliveryStatus.FAILED,
  cancelled: DeliveryStatus.CANCELLED,
};

const KIND: Record<DeliveryKindName, DeliveryKind> = {
  event: DeliveryKind.EVENT,
  test: DeliveryKind.TEST,
  resend: DeliveryKind.RESEND,
  replay: DeliveryKind.REPLAY,
};

export const CAP: Record<FullCap, Cap> = {
  none: Cap.UNSPECIFIED,
  endpoint: Cap.ENDPOINT,
  workspace: Cap.WORKSPACE,
  "failing-endpoints": Cap.FAILING_ENDPOINTS,
};

export function toDelivery(row: DeliveryRow, caps: QueueCaps, now: Date): Delivery {
  const { id, eventId, eventType, endpointId, kind, status, attempts, createdAt, finishedAt } = row;
  const { responseCode, durationMs, response, error } = row;
  return create(DeliverySchema, {
    id,
    eventId,
    eventType,
    endpointId: BigInt(endpointId),
    kind: KIND[kind],
    status: STATUS[status],
    attempts,
    responseCode,
    durationMs,
    response,
    error,
    createdAt: timestampFromDate(createdAt),
    ...(finishedAt && { finishedAt: timestampFromDate(finishedAt) }),
    ...waitMembers(waitingOf(row, caps, now)),
  });
}

function waitMembers(waiting: Waiting) {
  switch (waiting.for) {
    case "slot":
      return {
        waitsFor: Wait.SLOT,
        waitsSince: timestampFromDate(waiting.since),
        fullCap: CAP[waiting.fullCap],
      };
    case "retry":
      return {
        waitsFor: Wait.RETRY,
        waitsSince: timestampFromDate(waiting.since),
        nextAttemptAt: timestampFromDate(waiting.until),
      };
    case "in-flight":
      return { waitsFor: Wait.IN_FLIGHT };
    case "nothing":
      return { waitsFor: Wait.UNSPECIFIED };
  }
}

export function toAttempt(row: AttemptRow, sent: SentHeaders): Attempt {
  const { startedAt, signedAt, ...rest } = row;
  return create(AttemptSchema, {
    ...rest,
    at: timestampFromDate(startedAt),
    ...(signedAt && { signedAt: timestampFromDate(signedAt) }),
    headers: Object.entries(sent.headers).map(([name, value]) => ({ name, value })),
    signaturesGone: sent.signaturesGone,
  });
}

/** The names in the tables of the statuses that a request asks for; undefined when it leaves them open. */
export function statusNames(statuses: readonly DeliveryStatus[]): DeliveryStatusName[] | undefined {
  const asked = statuses.filter((status) => status !== DeliveryStatus.UNSPECIFIED);
  if (asked.length === 0) return undefined;
  return asked.map((status) => nameOf(STATUS, status, "status"));
}

export function kindName(kind: DeliveryKind): DeliveryKindName | undefined {
  return kind === DeliveryKind.UNSPECIFIED ? undefined : nameOf(KIND, kind, "kind");
}

function nameOf<Name extends string>(names: Record<Name, number>, value: number, what: string): Name {
  const found = Object.entries(names).find(([, known]) => known === value);
  if (!found) throw new ConnectError(`${what}: not a known ${what}`, Code.InvalidArgument);
  return found[0] as Name;
}

export function noSuchDelivery(): ConnectError {
  return new ConnectError("no such delivery", Code.NotFound);
}
