import type { Queryable } from "@toolgate/postgres/pool";

export interface HourRow {
  /** Name of the tool. */
  id: string;
  hour: Date;
  count: number;
  errors: number;
  p50Ms: number;
  p99Ms: number;
}

/** By tool and hour. Of each hour at most the last 500 runs are read, so that the busiest tools cost little too. */
export async function countHours(
  db: Queryable,
  { workspaceId, tools, from }: { workspaceId: string; tools: string[]; from: Date },
): Promise<HourRow[]> {
  const counted = await db.query({
    name: "count_hours",
    text: `select t.name as id, h.start as hour, count(*)::int as count,
             (count(*) filter (where not run.success))::int as errors,
             percentile_disc(0.5) within group (order by run.duration_ms) as "p50Ms",
             percentile_disc(0.99) within group (order by run.duration_ms) as "p99Ms"
           from (select distinct unnest($2::text[]) as name) as t
           cross join (select $3::timestamptz + n * interval '1 hour' as start from generate_series(0, 23) as n) as h
           cross join lateral (
             select success, duration_ms from tool_runner.executions
             where workspace_id = $1 and tool = t.name
               and started_at >= h.start and started_at < h.start + interval '1 hour' and started_at >= $3
             order by started_at desc limit 500
           ) as run
           group by t.name, h.start
           order by h.start`,
    values: [workspaceId, tools, from],
  });
  return counted.rows;
}
