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
  costs: { currency: string; cost: string }[];
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
  return rows;
}
