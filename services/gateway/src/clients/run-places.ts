/**
 * The places for calls that are under way at tool-runner. A workspace may take one only while it has fewer than are free, so
 * that no workspace, and no number of them, takes all.
 */
export class RunPlaces {
  readonly #places: number;
  readonly #taken = new Map<string, number>();
  #sum = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /** Undefined: the workspace has too many. Dispose it when the call has ended, whether or not its client is still there. */
  take(workspaceId: string): Disposable | undefined {
    const mine = this.#taken.get(workspaceId) ?? 0;
    if (mine >= this.#places - this.#sum) return undefined;
    this.#change(workspaceId, 1);
    return { [Symbol.dispose]: () => this.#change(workspaceId, -1) };
  }

  #change(workspaceId: string, by: 1 | -1): void {
    const mine = (this.#taken.get(workspaceId) ?? 0) + by;
    this.#sum += by;
    if (mine === 0) this.#taken.delete(workspaceId);
    else this.#taken.set(workspaceId, mine);
  }
}
