import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { consumeRecords, type RecordConsumer } from "@toolgate/event-bus/consume-records";
import { UsageBatchSchema } from "@toolgate/gen/toolgate/events/v1/records_pb";
import { SERVICES } from "@toolgate/service-registry/services";
import { correctUsage, insertUsage } from "../store/usage.ts";

/** A call that arrives later than this is in the log and the totals, but not in the counts of the last day. */
const COUNTED_FOR_MS = 86_400_000;

/** Writes the usage records that gateways and tool-runner report. */
export function consumeUsageRecords({ now, ...consumer }: RecordConsumer & { now: () => number }): Promise<void> {
  return consumeRecords({
    ...consumer,
    schema: SERVICES["key-auth"].schema,
    durable: "key-auth-usage",
    filterSubject: "records.usage",
    decode: (data) => fromBinary(UsageBatchSchema, data).records,
    encode: (record) => toBinary(UsageBatchSchema, create(UsageBatchSchema, { records: [record] })),
    async write(records) {
      await insertUsage(consumer.pool, records, new Date(now() - COUNTED_FOR_MS));
      const corrections = records.filter(({ corrects }) => corrects);
      if (corrections.length > 0) await correctUsage(consumer.pool, corrections);
    },
  });
}
