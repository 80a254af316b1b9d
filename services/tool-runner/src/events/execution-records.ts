import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { consumeRecords, type RecordConsumer } from "@toolgate/event-bus/consume-records";
import { ExecutionBatchSchema } from "@toolgate/gen/toolgate/events/v1/records_pb";
import { SERVICES } from "@toolgate/service-registry/services";
import { insertExecutions } from "../store/executions.ts";

/** Stores the runs that are not calls by key, of every replica. */
export function consumeExecutionRecords(consumer: RecordConsumer): Promise<void> {
  return consumeRecords({
    ...consumer,
    schema: SERVICES["tool-runner"].schema,
    durable: "tool-runner-executions",
    filterSubject: "records.execution",
    decode: (data) => fromBinary(ExecutionBatchSchema, data).records,
    encode: (record) => toBinary(ExecutionBatchSchema, create(ExecutionBatchSchema, { records: [record] })),
    write: (records) => insertExecutions(consumer.pool, records),
  });
}
