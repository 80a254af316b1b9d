/** Open streams and waiting messages on one gateway. */
export interface SlotLimits {
  perUser: number;
  perWorkspace: number;
}

export const SLOT_LIMITS: SlotLimits = { perUser: 20, perWorkspace: 2_000 };

/** Bounds how many answers are awaited at the same time, so that no user or workspace can occupy the whole gateway. */
export class AnswerSlots {
  readonly #taken = new Map<string, number>();
  readonly #limits: SlotLimits;

  constructor(limits = SLOT_LIMITS) {
    this.#limits = limits;
  }

  /** Returns the function that gives the slot back, or undefined when no slot is free. */
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

  /** Users and workspaces with at least one slot. */
  get size(): number {
    return this.#taken.size;
  }

  #of(name: string): number {
    return this.#taken.get(name) ?? 0;
  }
}
