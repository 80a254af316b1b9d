/** Random numbers from 0 to below 1; the same seed gives the same numbers. */
export type Random = () => number;

/** The generator mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Time until the next of events that come independently of each other. */
export function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random());
}

/** Response times: most are near the median, a few take much longer. With `sigma` 0.5, 1 of 100 takes 3.2 times the median. */
export function logNormal(random: Random, median: number, sigma: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return median * Math.exp(sigma * normal);
}
