import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type UndeliveredEventSchema,
  UndeliveredReason,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import { timestampOf } from "@toolgate/service-host/time";
import type { UndeliveredReason as ReasonName, UndeliveredRow } from "../../store/undelivered.ts";

const REASON: Record<ReasonName, UndeliveredReason> = {
  failed: UndeliveredReason.FAILED,
  cancelled: UndeliveredReason.CANCELLED,
  skipped: UndeliveredReason.SKIPPED,
};

export function toUndeliveredEvent(row: UndeliveredRow): MessageInitShape<typeof UndeliveredEventSchema> {
  const { endpointId, reason, eventAt, undeliveredAt, ...rest } = row;
  return {
    ...rest,
    endpointId: BigInt(endpointId),
    reason: REASON[reason],
    eventAt: timestampOf(eventAt),
    undeliveredAt: timestampOf(undeliveredAt),
  };
}
