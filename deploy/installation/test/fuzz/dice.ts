import { seededRandom } from "@toolgate/testbed/random";

/** Random choices. The same seed and case make the same ones, so that a failed case can be repeated alone. */
export interface Dice {
  /** From 0 to below `limit`. */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  bytes(length: number): Buffer;
}

const LARGE_PRIME = 2_654_435_761;

export function diceFor(seed: number, index: number): Dice {
  const random = seededRandom(Math.imul(seed + 1, LARGE_PRIME) ^ index);
  const below = (limit: number) => Math.floor(random() * limit);
  return {
    below,
    chance: (probability) => random() < probability,
    pick: <T>(items: readonly T[]) => items[below(items.length)] as T,
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  };
}
