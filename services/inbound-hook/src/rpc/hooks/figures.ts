import type { Context } from "../../context.ts";
import { countDeliveries, type HookFigures } from "../../store/hook-figures.ts";

const DAY_MS = 86_400_000;

/** The figures of hook deliveries in the last 24 hours, by hook. */
export async function figuresOf(
  { pool, now }: Pick<Context, "pool" | "now">,
  hooks: readonly { id: number }[],
): Promise<Map<number, HookFigures>> {
  if (hooks.length === 0) return new Map();
  const since = new Date(now().getTime() - DAY_MS);
  const ids = hooks.map(({ id }) => id);
  return new Map((await countDeliveries(pool, ids, since)).map((one) => [one.hookId, one]));
}
