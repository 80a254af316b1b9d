import { MAX_DAYS_LATE } from "@toolgate/outbound-webhook/domain/incoming-event";
import { RETENTION_DAYS as DELIVERY_DAYS } from "@toolgate/outbound-webhook/store/retention";
import type { Pool } from "@toolgate/postgres/pool";
import { LOG_RETENTION_DAYS } from "@toolgate/postgres/retention";
import type { ServiceName } from "@toolgate/service-registry/services";
import type { Findings } from "./finding.ts";

/** The job makes partitions for at least three days ahead, every hour. */
const DAYS_AHEAD = 2;
/** The longest time that a service keeps a day of its logs. */
const KEPT_DAYS: Partial<Record<ServiceName, number>> = {
  chat: 3,
  "inbound-hook": 30,
  "outbound-webhook": DELIVERY_DAYS + MAX_DAYS_LATE + 1,
};
/** A partition that is in use is dropped by a later run of the job. */
const DAYS_OF_GRACE = 2;

/** Whether the job that creates and drops the daily partitions of a service runs, by the database's clock. */
export async function checkPartitions(
  pool: Pool,
  service: ServiceName,
  schema: string,
  findings: Findings,
): Promise<void> {
  const kept = (KEPT_DAYS[service] ?? LOG_RETENTION_DAYS) + DAYS_OF_GRACE;
  const { rows } = await pool.query(
    `select p.oid::regclass::text as name, coalesce(max(day) < today + $2::int, true) as ends,
       coalesce(min(day) < today - $3::int, false) as old, min(day)::text as oldest, max(day)::text as newest
     from pg_class p
     cross join lateral (select (now() at time zone 'utc')::date as today) t
     left join lateral (
       select to_date(right(relname, 8), 'YYYYMMDD') as day from pg_inherits join pg_class c on c.oid = inhrelid
       where inhparent = p.oid and relname ~ '_[0-9]{8}$') d on true
     where p.relnamespace = to_regnamespace($1) and p.relkind = 'p' group by p.oid, today order by 1`,
    [schema, DAYS_AHEAD, kept],
  );
  const remedy = `Look in the log of ${service} for "partitions" or "daily job"; the job runs at its start and every hour.`;
  for (const { name, ends, old, oldest, newest } of rows) {
    if (ends)
      findings.add(
        "retention",
        `the daily job of ${service} has not run: ${name} has no partition after ${newest ?? "any day"}`,
        remedy,
      );
    if (old)
      findings.add(
        "retention",
        `${name} still has ${oldest}, which the daily job of ${service} should have dropped`,
        remedy,
      );
  }
}
