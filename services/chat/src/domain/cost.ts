/** Costs are counted in millionths of a millionth of a currency's unit, so that no price and no token count is rounded. */
const PER_MICRO = 1_000_000n;

/** In millionths of the unit, rounded to the nearest. */
export function microsOf(cost: bigint): bigint {
  return (cost + PER_MICRO / 2n) / PER_MICRO;
}

/** The sum of each currency, sorted by currency. */
export function sumCosts(costs: Iterable<{ currency: string; cost: bigint }>): { currency: string; cost: bigint }[] {
  const sums = new Map<string, bigint>();
  for (const { currency, cost } of costs) sums.set(currency, (sums.get(currency) ?? 0n) + cost);
  const sorted = [...sums].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([currency, cost]) => ({ currency, cost }));
}
