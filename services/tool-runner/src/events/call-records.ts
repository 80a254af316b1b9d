import { createHash } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { publishDurably } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import { consumeRecords, type RecordConsumer } from "@toolgate/event-bus/consume-records";
import {
  type CallRecord,
  CallRecordBatchSchema,
  UsageBatchSchema,
  type UsageRecord,
} from "@toolgate/gen/toolgate/events/v1/records_pb";
import { SERVICES } from "@toolgate/service-registry/services";
import { insertExecutions } from "../store/executions.ts";

/** Far below the broker's limit for a message, with a record of at most 1 KiB. */
const USAGE_RECORDS_PER_MESSAGE = 500;
const PASS_ON_WITHIN_MS = 10_000;

/** Stores the runs of calls by key, and passes the calls' usage records on to key-auth. */
export function consumeCallRecords(consumer: RecordConsumer): Promise<void> {
  const { bus, pool } = consumer;
  const passOn = (records: CallRecord[]) => passOnUsage(bus, records);
  return consumeRecords({
    ...consumer,
    schema: SERVICES["tool-runner"].schema,
    durable: "tool-runner-calls",
    filterSubject: "calls.record",
    decode: (data) => fromBinary(CallRecordBatchSchema, data).records,
    encode: (record) => toBinary(CallRecordBatchSchema, create(CallRecordBatchSchema, { records: [record] })),
    async write(records) {
      await insertExecutions(
        pool,
        records.flatMap(({ execution }) => execution ?? []),
      );
      // Only now: records that Postgres does not take come here again and again, and would fill RECORDS with repeats.
      await passOn(records);
    },
    // The calls count, and are in the usage log, even if Postgres always refuses the run of one of them.
    beforeParking: passOn,
  });
}

async function passOnUsage(bus: Bus, calls: CallRecord[]): Promise<void> {
  const usage = calls.flatMap((call) => call.usage ?? []);
  for (let from = 0; from < usage.length; from += USAGE_RECORDS_PER_MESSAGE) {
    const records = usage.slice(from, from + USAGE_RECORDS_PER_MESSAGE);
    const data = toBinary(UsageBatchSchema, create(UsageBatchSchema, { records }));
    const options = { messageId: messageIdOf(records), waitForRoom: false };
    await publishDurably(bus, "records.usage", data, PASS_ON_WITHIN_MS, options);
  }
}

/** The same for the same records, so that the broker drops a message that is passed on again. */
function messageIdOf(records: UsageRecord[]): string {
  const hash = createHash("sha256");
  for (const id of records.map((record) => record.id).sort()) hash.update(`${id} `);
  return `usage.${hash.digest("base64url")}`;
}
