import { fromBinary } from "@bufbuild/protobuf";
import { consumeRecords, type RecordConsumer } from "@toolgate/event-bus/consume-records";
import { ExecutionBatchSchema } from "@toolgate/gen/toolgate/events/v1/records_pb";
import type { Pool } from "@toolgate/postgres/pool";
import { insertExecutions } from "../store/executions.ts";

/** Stores the runs of every replica. */
export function consumeExecutionRecords({ pool, ...consumer }: RecordConsumer & { pool: Pool }): Promise<void> {
  return consumeRecords({
    ...consumer,
    durable: "tool-runner-executions",
    filterSubject: "records.execution",
    decode: (data) => fromBinary(ExecutionBatchSchema, data).records,
    write: (records) => insertExecutions(pool, records),
  });
}
