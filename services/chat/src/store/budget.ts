import type { Queryable } from "@toolgate/postgres/pool";

/** Tokens that a workspace has used since midnight UTC, and how many it may use per day; 0: any number. */
export interface Budget {
  used: number;
  perDay: number;
}

export async function readBudget(db: Queryable, workspaceId: string, now: Date): Promise<Budget> {
  const { rows } = await db.query({
    name: "read_budget",
    text: `select
  coalesce((select tokens_per_day from chat.settings where workspace_id = $1), 0)::bigint as "perDay",
  coalesce((select sum(input_tokens + output_tokens) from chat.usage
    where workspace_id = $1 and day = ($2::timestamptz at time zone 'UTC')::date), 0)::bigint as used`,
    values: [workspaceId, now],
  });
  return rows[0];
}
