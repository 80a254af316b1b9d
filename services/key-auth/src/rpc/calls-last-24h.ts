import type { Context } from "../context.ts";
import { countPlan } from "../domain/call-buckets.ts";
import { countCalls } from "../store/usage.ts";

const DAY_MS = 86_400_000;

/** [KEY-11] A sliding day over the log. */
export function callsLast24h(context: Context, keyIds: string[]): Promise<Map<string, number>> {
  return countCalls(context.pool, keyIds, countPlan(new Date(context.now().getTime() - DAY_MS)));
}
