import type { UsageRecord } from "@toolgate/gen/toolgate/events/v1/records_pb";
import type { Queryable } from "@toolgate/postgres/pool";

export const USAGE_TABLE = "key_auth.api_key_requests";
export const COUNTS_TABLE = "key_auth.api_key_request_counts";

/**
 * [LOG-2] Writes each record once, however often it arrives, and adds new calls to the keys' totals and, if they are
 * later than `countedAfter`, to the counts of their minute and hour. A call that the limit refused (429) changes only
 * the last use. All replicas lock rows and keys in the same order, so that they cannot deadlock.
 */
export async function insertUsage(db: Queryable, records: UsageRecord[], countedAfter: Date): Promise<void> {
  await db.query({
    name: "insert_usage",
    text: `with written as (
             insert into key_auth.api_key_requests (id, key_id, tool, status, duration_ms, ip, at, request_id)
             select id, key_id, tool, status, duration_ms, ip, to_timestamp(at_ms / 1000.0), request_id
             from json_to_recordset($1) as r
               (id uuid, key_id uuid, tool text, status smallint, duration_ms integer, ip text, at_ms bigint, request_id text)
             order by id
             on conflict do nothing
             returning key_id, status, at
           ), used as (
             select key_id, count(*) filter (where status <> 429) as calls, max(at) as last_at
             from written group by key_id
           ), locked as (
             select k.id, used.calls, used.last_at
             from key_auth.keys k join used on used.key_id = k.id
             order by k.id for update of k
           ), counted as (
             insert into key_auth.api_key_request_counts as c (key_id, width_s, start, calls)
             select locked.id, width.s, to_timestamp(floor(extract(epoch from at) / width.s) * width.s), count(*)
             from locked join written on written.key_id = locked.id cross join (values (60), (3600)) as width (s)
             where status <> 429 and at > $2
             group by 1, 2, 3
             order by 1, 2, 3
             on conflict (key_id, width_s, start) do update set calls = c.calls + excluded.calls
           )
           update key_auth.keys k
           set calls_total = k.calls_total + locked.calls, last_used_at = greatest(k.last_used_at, locked.last_at)
           from locked where k.id = locked.id`,
    values: [rowsOf(records), countedAfter],
  });
}

/**
 * [LOG-2] Writes what the client got over rows that were recorded too early. The calls stay counted. All replicas lock
 * rows in the same order, so that they cannot deadlock.
 */
export async function correctUsage(db: Queryable, records: UsageRecord[]): Promise<void> {
  await db.query({
    name: "correct_usage",
    text: `with correction as (
             select id, to_timestamp(at_ms / 1000.0) as at, status, duration_ms
             from json_to_recordset($1) as r (id uuid, at_ms bigint, status smallint, duration_ms integer)
           ), locked as (
             select logged.id, logged.at, correction.status, correction.duration_ms
             from key_auth.api_key_requests logged join correction using (id, at)
             order by logged.id for update of logged
           )
           update key_auth.api_key_requests logged
           set status = locked.status, duration_ms = locked.duration_ms
           from locked where logged.id = locked.id and logged.at = locked.at`,
    values: [rowsOf(records)],
  });
}

/** For json_to_recordset. */
function rowsOf(records: UsageRecord[]): string {
  const rows = records.map((record) => ({
    id: record.id,
    key_id: record.keyId,
    tool: record.tool,
    status: record.status,
    duration_ms: record.durationMs,
    ip: record.ip,
    at_ms: Number(record.atMs),
    request_id: record.requestId,
  }));
  return JSON.stringify(rows);
}

interface CallRow {
  at: Date;
  tool: string;
  status: number;
  durationMs: number;
  ip: string;
  requestId: string;
  keyId: string;
}

/** [MGMT-20] */
const CALLS_LISTED = 50;
const CALL_COLUMNS = `at, tool, status, duration_ms as "durationMs", ip, request_id as "requestId", key_id as "keyId"`;

// Planning over all partitions costs more than reading them. A named statement with a literal limit is planned once.

/** The last calls of a key since a time, newest first. */
export async function listCalls(db: Queryable, keyId: string, since: Date): Promise<CallRow[]> {
  const listed = await db.query({
    name: "list_calls",
    text: `select ${CALL_COLUMNS}
           from key_auth.api_key_requests where key_id = $1 order by at desc limit ${CALLS_LISTED}`,
    values: [keyId],
  });
  return listed.rows.filter(({ at }) => at >= since);
}

/** The calls of one HTTP request with one key of the workspace, or with any, since a time, newest first. */
export async function listCallsOfRequest(
  db: Queryable,
  call: { workspaceId: string; keyId: string | null; requestId: string; since: Date },
): Promise<CallRow[]> {
  const listed = await db.query({
    name: "list_calls_of_request",
    text: `select ${CALL_COLUMNS}
           from key_auth.api_key_requests
           where request_id = $3 and request_id <> ''
             and key_id in (select id from key_auth.keys where workspace_id = $1 and ($2::uuid is null or id = $2))
           order by at desc limit ${CALLS_LISTED}`,
    values: [call.workspaceId, call.keyId, call.requestId],
  });
  return listed.rows.filter(({ at }) => at >= call.since);
}

/** The newest call in the log that the limit admitted. */
export async function findLastAdmittedCall(db: Queryable, keyId: string): Promise<Date | undefined> {
  const found = await db.query(
    `select at from key_auth.api_key_requests where key_id = $1 and status <> 429 order by at desc limit 1`,
    [keyId],
  );
  return found.rows[0]?.at;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * [KEY-11] The calls since a time, by key id; keys without calls are missing. Counts the log's rows up to the next full
 * minute, then the counts per minute up to the next full hour, then the counts per hour.
 */
export async function countCalls(db: Queryable, keyIds: string[], since: Date): Promise<Map<string, number>> {
  const minutesFrom = (Math.floor(since.getTime() / MINUTE_MS) + 1) * MINUTE_MS;
  const hoursFrom = Math.ceil(minutesFrom / HOUR_MS) * HOUR_MS;
  const counted = await db.query({
    name: "count_calls",
    text: `select key_id as "keyId", sum(calls)::bigint as calls
           from (
             select key_id, calls from key_auth.api_key_request_counts
             where key_id = any($1::uuid[]) and width_s = 3600 and start >= $4
             union all
             select key_id, calls from key_auth.api_key_request_counts
             where key_id = any($1::uuid[]) and width_s = 60 and start >= $3 and start < $4
             union all
             select key_id, count(*) from key_auth.api_key_requests
             where key_id = any($1::uuid[]) and at > $2 and at < $3 and status <> 429
             group by key_id
           ) as part
           group by key_id`,
    values: [keyIds, since, new Date(minutesFrom), new Date(hoursFrom)],
  });
  return new Map(counted.rows.map((row) => [row.keyId, row.calls]));
}

export interface HourRow {
  id: string;
  hour: Date;
  count: number;
  /** Of the hour's calls, those that were read, and how many of them failed. */
  read: number;
  failed: number;
  p50Ms: number | null;
  p99Ms: number | null;
}

/** By key and hour. Of each hour at most the last 500 calls are read, so that the busiest keys cost little too. */
export async function countHours(
  db: Queryable,
  { workspaceId, keyIds, from }: { workspaceId: string; keyIds: string[]; from: Date },
): Promise<HourRow[]> {
  const counted = await db.query({
    name: "count_hours",
    text: `select c.key_id as id, c.start as hour, c.calls as count, newest.*
           from key_auth.api_key_request_counts c cross join lateral (
             select count(*)::int as read, (count(*) filter (where status >= 400))::int as failed,
               percentile_disc(0.5) within group (order by duration_ms) as "p50Ms",
               percentile_disc(0.99) within group (order by duration_ms) as "p99Ms"
             from (
               select status, duration_ms from key_auth.api_key_requests
               where key_id = c.key_id and at >= c.start and at < c.start + interval '1 hour' and at >= $3
               order by at desc limit 500
             ) as call
             where status <> 429
           ) as newest
           where c.key_id in (select id from key_auth.keys where workspace_id = $1 and id = any($2::uuid[]))
             and c.width_s = 3600 and c.start >= $3
           order by c.start`,
    values: [workspaceId, keyIds, from],
  });
  return counted.rows;
}
