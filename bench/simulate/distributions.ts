import type { Random } from "@toolgate/testbed/random";

/** Time until the next of events that come independently of each other. */
export function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random());
}

/** Response times: most are near the median, a few take much longer. With `sigma` 0.5, 1 of 100 takes 3.2 times the median. */
export function logNormal(random: Random, median: number, sigma: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return median * Math.exp(sigma * normal);
}
