import type { ExecutionRecord } from "@toolgate/gen/toolgate/events/v1/records_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import { type HostCallEntry, MAX_NESTING } from "../domain/host-functions.ts";
import { allRows } from "./rows.ts";

export const EXECUTIONS_TABLE = "tool_runner.executions";

/** Stores each record once, even if it arrives several times. */
export async function insertExecutions(db: Queryable, records: ExecutionRecord[]): Promise<void> {
  const rows = records.map(({ parentId, startedAtMs, hostCallsJson, logsJson, ...record }) => ({
    ...record,
    parentId: parentId || null,
    startedAtMs: Number(startedAtMs),
    hostCallsJson: hostCallsJson || "[]",
    logsJson: logsJson || "[]",
  }));
  await db.query({
    name: "insert_executions",
    text: `insert into tool_runner.executions
             (id, parent_id, workspace_id, tool, tool_version, entry_type, chat_id, caller_id, started_at, duration_ms,
              success, error, args, result, read_only, host_calls, logs, request_id)
           select id, "parentId", "workspaceId", tool, "toolVersion", "entryType", "chatId", "callerId",
             to_timestamp("startedAtMs" / 1000.0), "durationMs", success, error, "argsJson"::json, "resultJson"::json,
             "readOnly", "hostCallsJson"::json, "logsJson"::json, "requestId"
           from json_to_recordset($1) as r
             (id uuid, "parentId" uuid, "workspaceId" uuid, tool text, "toolVersion" integer, "entryType" text,
              "chatId" text, "callerId" text, "startedAtMs" bigint, "durationMs" integer, success boolean, error text,
              "argsJson" text, "resultJson" text, "readOnly" boolean, "hostCallsJson" text, "logsJson" text,
              "requestId" text)
           on conflict do nothing`,
    values: [JSON.stringify(rows)],
  });
}

export interface ExecutionRow {
  id: string;
  parentId: string | null;
  tool: string;
  toolVersion: number;
  entryType: string;
  chatId: string;
  callerId: string;
  startedAt: Date;
  startedAtText: string;
  durationMs: number;
  success: boolean;
  error: string;
  argsJson: string;
  resultJson: string;
  readOnly: boolean;
  hostCalls: HostCallEntry[];
  logs: string[];
  requestId: string;
}

const COLUMNS = `id, parent_id as "parentId", tool, tool_version as "toolVersion", entry_type as "entryType",
  chat_id as "chatId", caller_id as "callerId", started_at as "startedAt", started_at::text as "startedAtText",
  duration_ms as "durationMs", success, error, args::text as "argsJson", result::text as "resultJson",
  read_only as "readOnly", host_calls as "hostCalls", logs, request_id as "requestId"`;

/** What a run takes up, about. */
const LOGGED_CHARACTERS =
  "length(args::text) + length(result::text) + length(error) + length(host_calls::text) + length(logs::text)";

export type ExecutionCursor = { startedAt: string; id: string };

/** Empty texts and undefined members are not filtered by. */
interface ExecutionFilter {
  tool: string;
  entryType: string;
  callerId: string;
  chatId: string;
  requestId: string;
  success: boolean | undefined;
  startedFrom: Date | undefined;
  startedBefore: Date | undefined;
}

/** Each begins what a value follows. */
const CONDITIONS = {
  tool: "tool = ",
  entryType: "entry_type = ",
  callerId: "caller_id = ",
  chatId: "chat_id = ",
  requestId: "request_id <> '' and request_id = ",
  startedFrom: "started_at >= ",
  startedBefore: "started_at < ",
} as const;

/** Newest first, after the cursor. The statement contains only the filters in use, so that the planner picks an index. */
export function listExecutions(
  db: Queryable,
  workspaceId: string,
  filter: ExecutionFilter,
  { limit, after }: { limit: number; after: ExecutionCursor | undefined },
): Promise<ExecutionRow[]> {
  const values: unknown[] = [workspaceId];
  const place = (value: unknown) => `$${values.push(value)}`;
  const conditions = ["workspace_id = $1"];
  for (const name of Object.keys(CONDITIONS) as (keyof typeof CONDITIONS)[]) {
    if (filter[name]) conditions.push(CONDITIONS[name] + place(filter[name]));
  }
  // Literals, so that the planner can use the partial indexes.
  if (filter.success !== undefined) conditions.push(filter.success ? "success" : "not success");
  if (filter.entryType && filter.entryType !== "api_key") conditions.push("entry_type <> 'api_key'");
  if (after) {
    conditions.push(`started_at <= ${place(after.startedAt)}::timestamptz`);
    conditions.push(`(started_at, id) < (${place(after.startedAt)}::timestamptz, ${place(after.id)}::uuid)`);
  }
  return allRows(
    db,
    `select ${COLUMNS} from tool_runner.executions where ${conditions.join(" and ")}
     order by started_at desc, id desc limit ${place(limit)}`,
    values,
  );
}

const MAX_NESTED_SHOWN = 200;
const MAX_NESTED_CHARACTERS = 1024 * 1024;

/**
 * The run and the first of the runs that it and its nested runs called, as many as there is room for; `found` counts also those
 * that there is no room for, up to one. A run comes before the runs that it called, and they are in the order in which they
 * started. Empty if the workspace has no such run. A call ends within a day, so no other partitions are read.
 */
export function findExecutionTree(
  db: Queryable,
  workspaceId: string,
  id: string,
): Promise<(ExecutionRow & { found: number })[]> {
  return allRows(
    db,
    `with recursive root as materialized (
       select id, started_at from tool_runner.executions where workspace_id = $1 and id = $2
     ), tree as (
       select id, started_at, 1 as level from root
       union all
       select * from (
         select nested.id, nested.started_at, tree.level + 1
         from tree cross join root join tool_runner.executions nested on nested.parent_id = tree.id
         where nested.workspace_id = $1 and tree.level < ${MAX_NESTING}
           and nested.started_at between root.started_at - interval '1 minute' and root.started_at + interval '1 day'
         order by nested.started_at, nested.id limit ${MAX_NESTED_SHOWN + 1}
       ) next_level
     ), first_runs as (
       select * from tree order by level, started_at, id limit ${MAX_NESTED_SHOWN + 2}
     ), counted as (
       select run.*, level, count(*) over ()::integer as found, row_number() over first_first as place,
         sum(${LOGGED_CHARACTERS}) filter (where level > 1) over first_first as characters
       from first_runs join tool_runner.executions run using (id, started_at)
       window first_first as (order by level, run.started_at, run.id)
     )
     select ${COLUMNS}, found from counted
     where level = 1 or (place <= ${MAX_NESTED_SHOWN + 1} and characters <= ${MAX_NESTED_CHARACTERS})
     order by place`,
    [workspaceId, id],
  );
}
