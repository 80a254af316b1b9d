import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type AttemptSchema,
  Cap,
  DeliveryKind,
  type DeliverySchema,
  DeliveryStatus,
  Wait,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { QueueCaps } from "@toolgate/postgres/fair-queue/caps";
import { timestampOf } from "@toolgate/service-host/time";
import type { DeliveryKindName, DeliveryStatusName } from "../../domain/delivery-filter.ts";
import type { SentHeaders } from "../../domain/delivery-headers.ts";
import { type FullCap, fullCapOf } from "../../domain/full-cap.ts";
import type { AttemptRow, DeliveryRow } from "../../store/log/read.ts";
import { invalidArgument } from "../request-fields.ts";

export const STATUS: Record<DeliveryStatusName, DeliveryStatus> = {
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

type DeliveryInit = MessageInitShape<typeof DeliverySchema>;

export function toDelivery(row: DeliveryRow, caps: QueueCaps, now: Date): DeliveryInit {
  const { endpointId, kind, status, createdAt, finishedAt, ...rest } = row;
  return {
    ...rest,
    endpointId: BigInt(endpointId),
    kind: KIND[kind],
    status: STATUS[status],
    createdAt: timestampOf(createdAt),
    ...(finishedAt && { finishedAt: timestampOf(finishedAt) }),
    ...waitFields(row, caps, now),
  };
}

/** What a delivery waits for. One that is not in the queue is not tried again. */
function waitFields(row: DeliveryRow, caps: QueueCaps, now: Date): DeliveryInit {
  const { createdAt, attemptedAt, dueAt, leased, slots } = row;
  if (leased) return { waitsFor: Wait.IN_FLIGHT };
  if (!dueAt) return {};
  const due = timestampOf(dueAt);
  if (dueAt <= now) return { waitsFor: Wait.SLOT, waitsSince: due, fullCap: CAP[fullCapOf(slots, caps)] };
  return { waitsFor: Wait.RETRY, waitsSince: timestampOf(attemptedAt ?? createdAt), nextAttemptAt: due };
}

export function toAttempt(row: AttemptRow, sent: SentHeaders): MessageInitShape<typeof AttemptSchema> {
  const { startedAt, signedAt, ...rest } = row;
  return {
    ...rest,
    at: timestampOf(startedAt),
    signedAt: timestampOf(signedAt),
    headers: Object.entries(sent.headers).map(([name, value]) => ({ name, value })),
    signaturesGone: sent.signaturesGone,
  };
}

/** Names of the statuses in the tables; undefined when the request names none. */
export function statusNames(statuses: readonly DeliveryStatus[]): DeliveryStatusName[] | undefined {
  const set = statuses.filter((status) => status !== DeliveryStatus.UNSPECIFIED);
  return set.length === 0 ? undefined : set.map((status) => nameOf(STATUS, status, "status"));
}

export function kindName(kind: DeliveryKind): DeliveryKindName | undefined {
  return kind === DeliveryKind.UNSPECIFIED ? undefined : nameOf(KIND, kind, "kind");
}

function nameOf<Name extends string>(names: Record<Name, number>, value: number, field: string): Name {
  const found = Object.entries(names).find(([, known]) => known === value);
  if (!found) throw invalidArgument(`${field}: not a known ${field}`);
  return found[0] as Name;
}
