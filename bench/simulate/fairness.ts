/** Jain's index of fairness: 1 when all values are the same, 1/n when one has everything. 1 when there is nothing. */
export function jainsIndex(values: readonly number[]): number {
  let sum = 0;
  let squares = 0;
  for (const value of values) {
    sum += value;
    squares += value * value;
  }
  return squares === 0 ? 1 : (sum * sum) / (values.length * squares);
}
