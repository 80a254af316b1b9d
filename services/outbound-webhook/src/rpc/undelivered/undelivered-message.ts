import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type UndeliveredEventSchema,
  UndeliveredReason,
  UndeliveredState,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import type { UndeliveredReason as ReasonName, UndeliveredRow } from "../../store/undelivered/list.ts";

export const REASON: Record<ReasonName, UndeliveredReason> = {
  failed: UndeliveredReason.FAILED,
  cancelled: UndeliveredReason.CANCELLED,
  skipped: UndeliveredReason.SKIPPED,
};

const STATE: Record<UndeliveredRow["state"], UndeliveredState> = {
  undelivered: UndeliveredState.UNDELIVERED,
  pulled: UndeliveredState.PULLED,
};

export function toUndeliveredEvent(row: UndeliveredRow): MessageInitShape<typeof UndeliveredEventSchema> {
  const { endpointId, state, reason, eventAt, undeliveredAt, pulledAt, ...rest } = row;
  return {
    ...rest,
    endpointId: BigInt(endpointId),
    state: STATE[state],
    reason: REASON[reason],
    eventAt: timestampFromDate(eventAt),
    undeliveredAt: timestampFromDate(undeliveredAt),
    ...(pulledAt && { pulledAt: timestampFromDate(pulledAt) }),
  };
}
