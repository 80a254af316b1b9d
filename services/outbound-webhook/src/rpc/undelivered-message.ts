import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type UndeliveredEvent,
  UndeliveredEventSchema,
  UndeliveredReason,
  UndeliveredState,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import type { UndeliveredReason as ReasonName, UndeliveredRow } from "../store/undelivered/list.ts";

export const REASON: Record<ReasonName, UndeliveredReason> = {
  failed: UndeliveredReason.FAILED,
  cancelled: UndeliveredReason.CANCELLED,
  skipped: UndeliveredReason.SKIPPED,
};

const STATE: Record<UndeliveredRow["state"], UndeliveredState> = {
  undelivered: UndeliveredState.UNDELIVERED,
  pulled: UndeliveredState.PULLED,
};

export function toUndeliveredEvent(row: UndeliveredRow): UndeliveredEvent {
  const { endpointId, state, reason, eventAt, undeliveredAt, pulledAt, ...rest } = row;
  return create(UndeliveredEventSchema, {
    ...rest,
    endpointId: BigInt(endpointId),
    state: STATE[state],
    reason: REASON[reason],
    eventAt: timestampFromDate(eventAt),
    undeliveredAt: timestampFromDate(undeliveredAt),
    ...(pulledAt && { pulledAt: timestampFromDate(pulledAt) }),
  });
}

const YEAR_10000_MS = 253_402_300_800_000;

/** A time of a request; undefined when it is left out. Fails with invalid_argument outside of 1970 to 9999. */
export function timeOf(name: string, timestamp: Timestamp | undefined): Date | undefined {
  if (!timestamp) return undefined;
  const time = timestampDate(timestamp);
  if (time.getTime() >= 0 && time.getTime() < YEAR_10000_MS) return time;
  throw new ConnectError(`${name}: not a time`, Code.InvalidArgument);
}
