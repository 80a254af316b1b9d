/** Open streams and waiting messages on one gateway. */
const MAX_PER_USER = 20;
const MAX_PER_WORKSPACE = 2_000;

/** Bounds how many answers are awaited at the same time, so that no user or workspace can occupy the whole gateway. */
export class Places {
  readonly #taken = new Map<string, number>();

  /** Returns the function that gives the place back, or undefined when no place is free. */
  take(userId: string, workspaceId: string): (() => void) | undefined {
    const user = `user ${userId}`;
    const workspace = `workspace ${workspaceId}`;
    if (this.#of(user) >= MAX_PER_USER || this.#of(workspace) >= MAX_PER_WORKSPACE) return undefined;
    for (const name of [user, workspace]) this.#taken.set(name, this.#of(name) + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      for (const name of [user, workspace]) {
        if (this.#of(name) > 1) this.#taken.set(name, this.#of(name) - 1);
        else this.#taken.delete(name);
      }
    };
  }

  /** Users and workspaces with at least one place. */
  get size(): number {
    return this.#taken.size;
  }

  #of(name: string): number {
    return this.#taken.get(name) ?? 0;
  }
}
