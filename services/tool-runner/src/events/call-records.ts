import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { publishDurably } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import { consumeRecords, type RecordConsumer } from "@toolgate/event-bus/consume-records";
import { CallRecordBatchSchema, UsageBatchSchema, type UsageRecord } from "@toolgate/gen/toolgate/events/v1/records_pb";
import { SERVICES } from "@toolgate/service-registry/services";
import { insertExecutions } from "../store/executions.ts";

/** Far below the broker's limit for a message, with a record of at most 1 KiB. */
const USAGE_RECORDS_PER_MESSAGE = 500;

/** Stores the runs of calls by key, and passes the calls' usage records on to key-auth. */
export function consumeCallRecords(consumer: RecordConsumer): Promise<void> {
  const { bus, pool } = consumer;
  return consumeRecords({
    ...consumer,
    schema: SERVICES["tool-runner"].schema,
    durable: "tool-runner-calls",
    filterSubject: "records.call",
    decode: (data) => fromBinary(CallRecordBatchSchema, data).records,
    async write(records) {
      const usage = records.flatMap((record) => record.usage ?? []);
      const runs = records.flatMap(({ execution }) => execution ?? []);
      // The usage records go on even if Postgres refuses one of the runs.
      const [written, passedOn] = await Promise.allSettled([insertExecutions(pool, runs), passOn(bus, usage)]);
      if (written.status === "rejected") throw written.reason;
      if (passedOn.status === "rejected") throw passedOn.reason;
    },
  });
}

async function passOn(bus: Bus, usage: UsageRecord[]): Promise<void> {
  for (let from = 0; from < usage.length; from += USAGE_RECORDS_PER_MESSAGE) {
    const records = usage.slice(from, from + USAGE_RECORDS_PER_MESSAGE);
    await publishDurably(bus, "records.usage", toBinary(UsageBatchSchema, create(UsageBatchSchema, { records })));
  }
}
