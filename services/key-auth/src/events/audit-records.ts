import { fromBinary } from "@bufbuild/protobuf";
import { AUDIT_SUBJECT } from "@toolgate/audit-trail/relay";
import { consumeRecords, type RecordConsumer } from "@toolgate/event-bus/consume-records";
import { AuditBatchSchema } from "@toolgate/gen/toolgate/events/v1/audit_pb";
import type { Pool } from "@toolgate/postgres/pool";
import { insertReportedEntries } from "../store/audit.ts";

/** Writes the audit entries that other services report. */
export function consumeAuditRecords({ pool, ...consumer }: RecordConsumer & { pool: Pool }): Promise<void> {
  return consumeRecords({
    ...consumer,
    durable: "key-auth-audit",
    filterSubject: AUDIT_SUBJECT,
    decode: (data) => fromBinary(AuditBatchSchema, data).records,
    write: (records) => insertReportedEntries(pool, records),
  });
}
