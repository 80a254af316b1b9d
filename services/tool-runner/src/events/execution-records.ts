import { fromBinary } from "@bufbuild/protobuf";
import type { Bus } from "@toolgate/event-bus/connect";
import { consumeRecords } from "@toolgate/event-bus/consume-records";
import { ExecutionBatchSchema } from "@toolgate/gen/toolgate/events/v1/records_pb";
import { isDataError } from "@toolgate/postgres/data-error";
import type { Pool } from "@toolgate/postgres/pool";
import { insertExecutions } from "../store/executions.ts";

/** Stores the runs of every replica. */
export function consumeExecutionRecords(deps: {
  bus: Bus;
  pool: Pool;
  signal: AbortSignal;
  onError: (error: unknown) => void;
}): Promise<void> {
  return consumeRecords({
    ...deps,
    durable: "tool-runner-executions",
    filterSubject: "records.execution",
    isPermanent: isDataError,
    handle: (messages) =>
      insertExecutions(
        deps.pool,
        messages.flatMap((message) => fromBinary(ExecutionBatchSchema, message.data).records),
      ),
  });
}
