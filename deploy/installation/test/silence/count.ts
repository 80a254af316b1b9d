/** One request that a receiver got. */
export interface Arrival {
  path: string;
  atMs: number;
  deliveryId: string;
  type: string;
  /** The number that the tool put into the event. */
  n: number;
}

/** From a kill until every endpoint gets deliveries again. */
export interface Span {
  fromMs: number;
  untilMs: number;
}

/** The longest time in a span during which one of these endpoints got nothing. */
export function longestSilence(
  arrivals: readonly Arrival[],
  paths: readonly string[],
  { fromMs, untilMs }: Span,
): number {
  let longestMs = 0;
  for (const path of paths) {
    let lastMs = Number.NEGATIVE_INFINITY;
    for (const { path: own, atMs } of arrivals) {
      if (own !== path) continue;
      if (atMs > fromMs && lastMs < untilMs) longestMs = Math.max(longestMs, atMs - Math.max(lastMs, 0));
      lastMs = Math.max(lastMs, atMs);
    }
    // Nothing came after the span.
    if (lastMs < untilMs) longestMs = Math.max(longestMs, untilMs - lastMs);
  }
  return longestMs;
}

/** Arrivals in a span of deliveries that had arrived before. */
export function countRepeated(arrivals: readonly Arrival[], { fromMs, untilMs }: Span): number {
  const seen = new Set<string>();
  let repeated = 0;
  for (const { deliveryId, atMs } of arrivals) {
    if (seen.has(deliveryId) && atMs > fromMs && atMs <= untilMs) repeated += 1;
    seen.add(deliveryId);
  }
  return repeated;
}

/** How many pairs of an accepted event and an endpoint that subscribes to it are without an arrival. */
export function countLost(
  arrivals: readonly Arrival[],
  accepted: ReadonlyMap<string, readonly number[]>,
  subscribers: ReadonlyMap<string, readonly string[]>,
): number {
  const arrived = new Set(arrivals.map(({ path, type, n }) => `${path} ${type} ${n}`));
  let lost = 0;
  for (const [type, numbers] of accepted)
    for (const path of subscribers.get(type) ?? [])
      for (const n of numbers) if (!arrived.has(`${path} ${type} ${n}`)) lost += 1;
  return lost;
}
