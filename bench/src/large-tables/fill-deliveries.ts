import type { Pool } from "@toolgate/postgres/pool";
import { addPartitions, type Day, fillDays, lastDays } from "./filling.ts";

export type DeliveryLog = { rows: number; partitions: number };

export const FREQUENT_TYPE = "tool.completed";
export const RARE_TYPE = "custom.rare";
/** Endpoints of the workspace that is measured: the first gets most events, the last hardly any. */
export const MAIN_ENDPOINTS = 100;
const ENDPOINTS_PER_OTHER = 5;
/** The first endpoint id; lower ones are left to endpoints that are registered. */
const FIRST_ENDPOINT_ID = 1_000_000;

/** The retention of the log in days; a day that has begun counts. */
const DAYS = 30;
const SKEW = 3;
const OTHERS_SHARE = 0.2;
const CUSTOM_TYPES = 12;
const PENDING = 5_000;
const RETRYING = 2_000;
const TABLES = ["outbound_webhook.delivery", "outbound_webhook.attempt"];

export const endpointId = (number: number) => FIRST_ENDPOINT_ID + number;

/** Fills the log of deliveries; the first workspace has most of them, and a backlog. */
export async function fillDeliveries(
  pool: Pool,
  workspaceIds: readonly string[],
  { rows, now, signal }: { rows: number; now: Date; signal: AbortSignal },
): Promise<DeliveryLog> {
  await addEndpoints(pool, workspaceIds);
  const days = lastDays(DAYS, now);
  await addPartitions(pool, TABLES, days);
  const perDay = Math.ceil(rows / days.length);
  await fillDays(pool, { tables: TABLES, days, signal }, (day) => fillDay(pool, workspaceIds, day, perDay));
  await addOutstanding(pool, workspaceIds[0] as string, now);
  const counted = await pool.query("select count(*) from outbound_webhook.delivery");
  return { rows: counted.rows[0].count, partitions: days.length };
}

/** An event of the workspace's busiest endpoint. */
export async function someEvents(pool: Pool, count: number): Promise<string[]> {
  const { rows } = await pool.query(
    `select event_id as id from outbound_webhook.delivery tablesample system (0.1) where endpoint_id = $1 limit $2`,
    [endpointId(1), count],
  );
  return rows.map((row) => row.id);
}

async function addEndpoints(pool: Pool, workspaceIds: readonly string[]): Promise<void> {
  await pool.query(
    `insert into outbound_webhook.endpoint (id, workspace_id, workspace, url, events, secret, created_at)
     select ${FIRST_ENDPOINT_ID} + n,
       ($1::text[])[case when n <= $2 then 1 else 2 + (n - $2 - 1) / $3 end],
       'bench', 'https://receiver.example/' || n, '{tool.completed,custom.*}', '\\x00', now() - interval '90 days'
     from generate_series(1, $2::int + $3::int * (cardinality($1::text[]) - 1)) n`,
    [workspaceIds, MAIN_ENDPOINTS, ENDPOINTS_PER_OTHER],
  );
}

/**
 * Fills one day. Failed deliveries have a log row for their last attempt; in the latest two days all deliveries have
 * one.
 */
async function fillDay(pool: Pool, workspaceIds: readonly string[], day: Day, rows: number): Promise<void> {
  await pool.query(
    `with made as (
       select $1::timestamptz + n * ($2::timestamptz - $1::timestamptz) / $3::int as at, n,
         random() as owner, 1 - random() as endpoint, random() as type, random() as kind, random() as status
       from generate_series(0, $3::int - 1) n
     ), owned as (
       select *, case when owner < ${OTHERS_SHARE}
         then ${MAIN_ENDPOINTS} + ceil(endpoint * ${ENDPOINTS_PER_OTHER} * (cardinality($4::text[]) - 1))::int
         else ceil(power(endpoint, ${SKEW}) * ${MAIN_ENDPOINTS})::int end as endpoint_number
       from made
     ), delivery as (
       insert into outbound_webhook.delivery
         (created_at, id, workspace_id, endpoint_id, event_created_at, event_id, event_type, kind, status, attempts,
          response_code, duration_ms, error, finished_at)
       select date_trunc('milliseconds', at), outbound_webhook.delivery_id(at),
         ($4::text[])[case when endpoint_number <= ${MAIN_ENDPOINTS} then 1
           else 2 + (endpoint_number - ${MAIN_ENDPOINTS} - 1) / ${ENDPOINTS_PER_OTHER} end],
         ${FIRST_ENDPOINT_ID} + endpoint_number,
         date_trunc('second', at), 'evt_' || md5(at::text || n),
         case when type < 0.00001 then '${RARE_TYPE}' when type < 0.7 then '${FREQUENT_TYPE}'
           else 'custom.type-' || n % ${CUSTOM_TYPES} end,
         case when kind < 0.0003 then 'test' when kind < 0.0006 then 'resend' else 'event' end,
         case when status < 0.01 then 'failed' when status < 0.015 then 'cancelled' else 'delivered' end,
         case when status < 0.01 then 6 when status < 0.015 then 2 else 1 end,
         case when status < 0.01 then 500 when status < 0.015 then 0 else 200 end,
         (20 + kind * 200)::int,
         case when status < 0.01 then 'the response code was 500' when status < 0.015 then 'no response' else '' end,
         at + interval '1 second'
       from owned
       returning created_at, id, attempts, response_code, error
     )
     insert into outbound_webhook.attempt
       (created_at, delivery_id, number, started_at, response_code, duration_ms, error, response, address, dns_ms,
        connect_ms, tls_ms, first_byte_ms)
     select created_at, id, attempts, created_at, response_code, 40, error, repeat('received ', 20), '203.0.113.9', 1, 5, 9, 30
     from delivery where attempts > 1 or created_at > $5::timestamptz - interval '2 days'`,
    [day.from, day.to, rows, workspaceIds, new Date()],
  );
}

/** Waiting deliveries, in a queue that is never ready for a dispatcher, so that they do not change while measuring. */
async function addOutstanding(pool: Pool, workspaceId: string, now: Date): Promise<void> {
  await pool.query(
    `with added as (
       insert into outbound_webhook.delivery
         (created_at, id, workspace_id, endpoint_id, event_created_at, event_id, event_type, kind, status, attempts,
          response_code, next_attempt_at)
       select at, outbound_webhook.delivery_id(at), $1, ${FIRST_ENDPOINT_ID} + 1 + n % 3, date_trunc('second', at),
         'evt_' || md5('waiting ' || n), '${FREQUENT_TYPE}', 'event',
         case when n <= ${PENDING} then 'pending' else 'retrying' end, case when n <= ${PENDING} then 0 else 2 end,
         case when n <= ${PENDING} then 0 else 503 end, at + interval '5 hours'
       from (
         select n, date_trunc('milliseconds', $2::timestamptz - n * case when n <= ${PENDING}
           then interval '100 milliseconds' else interval '1 second' end) as at
         from generate_series(1, ${PENDING + RETRYING}) n
       ) made
       returning id, workspace_id, endpoint_id, created_at, next_attempt_at, attempts
     ), grouped as (
       insert into outbound_webhook.queue_group (group_id) values ($1) on conflict do nothing
     ), members as (
       insert into outbound_webhook.queue_member (group_id, member_id, ready_at)
       select distinct workspace_id, endpoint_id, 'infinity'::timestamptz from added
       on conflict do nothing
     )
     insert into outbound_webhook.queue_item (item_id, group_id, member_id, created_at, due_at, attempt)
     select id, workspace_id, endpoint_id, created_at, next_attempt_at, attempts + 1 from added`,
    [workspaceId, now],
  );
  await pool.query("vacuum (analyze) outbound_webhook.queue_item");
}
