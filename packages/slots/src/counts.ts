/** How many there are of each name. */
export class Counts {
  readonly #counts = new Map<string, number>();

  /** How many names there are at least one of. */
  get size(): number {
    return this.#counts.size;
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  add(name: string, by: 1 | -1): number {
    const count = this.of(name) + by;
    if (count === 0) this.#counts.delete(name);
    else this.#counts.set(name, count);
    return count;
  }
}
