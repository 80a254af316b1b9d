/** Open streams and waiting messages on one gateway. */
export interface PlaceLimits {
  perUser: number;
  perWorkspace: number;
}

export const PLACE_LIMITS: PlaceLimits = { perUser: 20, perWorkspace: 2_000 };

/** Bounds how many answers are awaited at the same time, so that no user or workspace can occupy the whole gateway. */
export class Places {
  readonly #taken = new Map<string, number>();
  readonly #limits: PlaceLimits;

  constructor(limits = PLACE_LIMITS) {
    this.#limits = limits;
  }

  /** Returns the function that gives the place back, or undefined when no place is free. */
  take(userId: string, workspaceId: string): (() => void) | undefined {
    const user = `user ${userId}`;
    const workspace = `workspace ${workspaceId}`;
    const { perUser, perWorkspace } = this.#limits;
    if (this.#of(user) >= perUser || this.#of(workspace) >= perWorkspace) return undefined;
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
