import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { AUDIT_SUBJECT } from "@toolgate/audit-trail/relay";
import { consumeRecords, type RecordConsumer } from "@toolgate/event-bus/consume-records";
import { AuditBatchSchema } from "@toolgate/gen/toolgate/events/v1/audit_pb";
import { SERVICES } from "@toolgate/service-registry/services";
import { insertReportedEntries } from "../store/audit.ts";

/** Writes the audit entries that other services report. */
export function consumeAuditRecords(consumer: RecordConsumer): Promise<void> {
  return consumeRecords({
    ...consumer,
    schema: SERVICES["key-auth"].schema,
    durable: "key-auth-audit",
    filterSubject: AUDIT_SUBJECT,
    decode: (data) => fromBinary(AuditBatchSchema, data).records,
    encode: (record) => toBinary(AuditBatchSchema, create(AuditBatchSchema, { records: [record] })),
    write: (records) => insertReportedEntries(consumer.pool, records),
  });
}
