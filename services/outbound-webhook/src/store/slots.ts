import { isDoubtful } from "@toolgate/postgres/fair-queue/caps";
import { SCHEMA, STUCK_AFTER_MS } from "./queue.ts";

/**
 * Part of a statement: the `Slots` of an endpoint at the time `now` as JSON, all of them 0 when the queue does not know
 * it. Takes expressions for the workspace, the endpoint and the time.
 */
export function slotsOf(workspace: string, endpoint: string, now: string): string {
  return `(select json_build_object(
    'endpoint', coalesce(sum(in_flight) filter (where member_id = ${endpoint}), 0),
    'failing', coalesce(bool_or(failing) filter (where member_id = ${endpoint}), false),
    'doubtful', coalesce(bool_or(doubtful) filter (where member_id = ${endpoint}), false),
    'doubtfulEndpoints', coalesce(sum(in_flight) filter (where doubtful), 0),
    'workspace', coalesce((select g.in_flight from ${SCHEMA}.queue_group g where g.group_id = ${workspace}), 0))
  from (
    select member_id, in_flight, failing, ${isDoubtful({ stuckAfterMs: STUCK_AFTER_MS }, now)} as doubtful
    from ${SCHEMA}.queue_member where group_id = ${workspace} and (in_flight > 0 or member_id = ${endpoint})
  ) of_workspace)`;
}
