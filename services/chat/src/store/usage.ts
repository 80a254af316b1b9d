import type { Queryable } from "@toolgate/postgres/pool";

/** What one model was used for on one day. */
export interface UsageRow {
  /** Such as 2026-01-31. */
  day: string;
  model: string;
  turns: number;
  inputTokens: number;
  outputTokens: number;
  /** In millionths of a millionth of the currency's unit, sorted by currency. */
  costs: { currency: string; cost: bigint }[];
}

/** Sorted by day and model; both days are included. */
export async function readUsage(
  db: Queryable,
  workspaceId: string,
  { first, last }: { first: string; last: string },
): Promise<UsageRow[]> {
  const { rows } = await db.query(
    `select u.day::text, u.model, u.turns, u.input_tokens as "inputTokens", u.output_tokens as "outputTokens",
  array(select jsonb_build_object('currency', c.currency, 'cost', c.cost::text) from chat.usage_cost c
    where c.workspace_id = u.workspace_id and c.day = u.day and c.model = u.model order by c.currency) as costs
from chat.usage u
where u.workspace_id = $1 and u.day between $2::date and $3::date
order by u.day, u.model`,
    [workspaceId, first, last],
  );
  const exact = (stored: { currency: string; cost: string }) => ({ ...stored, cost: BigInt(stored.cost) });
  return rows.map((row) => ({ ...row, costs: row.costs.map(exact) }));
}

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
