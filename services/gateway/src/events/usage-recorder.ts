import { create, toBinary } from "@bufbuild/protobuf";
import { createBatchingPublisher } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import type { GroupCommit } from "@toolgate/event-bus/group-commit";
import { UsageBatchSchema, type UsageRecord } from "@toolgate/gen/toolgate/events/v1/records_pb";

const RECORD_BYTES = 256;

/** [LOG-2] Sends the calls of one tick as one message; `add` resolves once the broker has written it. */
export function createUsageRecorder(bus: Bus): GroupCommit<UsageRecord> {
  return createBatchingPublisher({
    bus,
    subject: "records.usage",
    sizeOf: (record) => RECORD_BYTES + record.tool.length,
    encode: (records) => toBinary(UsageBatchSchema, create(UsageBatchSchema, { records })),
  });
}
