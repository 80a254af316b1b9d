import { fromBinary } from "@bufbuild/protobuf";
import type { Bus } from "@toolgate/event-bus/connect";
import { consumeRecords } from "@toolgate/event-bus/consume-records";
import { UsageBatchSchema } from "@toolgate/gen/toolgate/events/v1/records_pb";
import { isDataError } from "@toolgate/postgres/data-error";
import type { Pool } from "@toolgate/postgres/pool";
import { insertUsage } from "../store/usage.ts";

/** A call that arrives later than this is in the log and the totals, but not in the counts of the last day. */
const COUNTED_FOR_MS = 86_400_000;

/** Writes the usage records that gateways report. */
export function consumeUsageRecords(deps: {
  bus: Bus;
  pool: Pool;
  now: () => number;
  signal: AbortSignal;
  onError: (error: unknown) => void;
}): Promise<void> {
  return consumeRecords({
    ...deps,
    durable: "key-auth-usage",
    filterSubject: "records.usage",
    isPermanent: isDataError,
    handle: (messages) =>
      insertUsage(
        deps.pool,
        messages.flatMap((message) => fromBinary(UsageBatchSchema, message.data).records),
        new Date(deps.now() - COUNTED_FOR_MS),
      ),
  });
}
