/** A child in a sandbox process. */
export type PlacedChild = {
  /** Asks the pool to start another one in its place, and to end it when it has no runs. Undefined until it is connected. */
  leave?: () => void;
};

/** Which children are in which sandbox process. A child that has been asked to leave no longer counts. */
export class Load {
  readonly #children = new Map<string, Set<PlacedChild>>();

  add(address: string, child: PlacedChild): void {
    const children = this.#children.get(address);
    if (children === undefined) this.#children.set(address, new Set([child]));
    else children.add(child);
  }

  remove(address: string, child: PlacedChild): void {
    const children = this.#children.get(address);
    children?.delete(child);
    if (children?.size === 0) this.#children.delete(address);
  }

  of(address: string): number {
    return this.#children.get(address)?.size ?? 0;
  }

  get isEmpty(): boolean {
    return this.#children.size === 0;
  }

  /**
   * Where one child should go, and which: undefined while no move would make the load more even. Moving one from a process
   * that has only one more than another would not.
   */
  move(addresses: readonly string[]): { to: string; leave: () => void } | undefined {
    const [to, ...others] = addresses.toSorted((a, b) => this.of(a) - this.of(b));
    const from = others.at(-1);
    if (to === undefined || from === undefined || this.of(from) - this.of(to) < 2) return undefined;
    for (const child of this.#children.get(from) ?? []) {
      const { leave } = child;
      if (leave === undefined) continue;
      return {
        to,
        leave: () => {
          this.remove(from, child);
          leave();
        },
      };
    }
    return undefined;
  }
}
