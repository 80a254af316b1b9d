import { fromBinary } from "@bufbuild/protobuf";
import { AUDIT_SUBJECT } from "@toolgate/audit-trail/relay";
import type { Bus } from "@toolgate/event-bus/connect";
import { consumeRecords } from "@toolgate/event-bus/consume-records";
import { AuditBatchSchema } from "@toolgate/gen/toolgate/events/v1/audit_pb";
import { isDataError } from "@toolgate/postgres/data-error";
import type { Pool } from "@toolgate/postgres/pool";
import { insertReportedEntries } from "../store/audit.ts";

/** Writes the audit entries that other services report. */
export function consumeAuditRecords(deps: {
  bus: Bus;
  pool: Pool;
  signal: AbortSignal;
  onError: (error: unknown) => void;
}): Promise<void> {
  return consumeRecords({
    ...deps,
    durable: "key-auth-audit",
    filterSubject: AUDIT_SUBJECT,
    isPermanent: isDataError,
    handle: (messages) =>
      insertReportedEntries(
        deps.pool,
        messages.flatMap((message) => fromBinary(AuditBatchSchema, message.data).records),
      ),
  });
}
