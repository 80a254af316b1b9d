/** Open streams and waiting messages on one gateway: each is a connection, and some memory. */
export interface AnswerLimits {
  perUser: number;
  perWorkspace: number;
}

export const ANSWER_LIMITS: AnswerLimits = { perUser: 20, perWorkspace: 2_000 };

/** Counts the answers that users wait for. Without a limit one user could open all the connections that a gateway takes. */
export class OpenAnswers {
  readonly #open = new Map<string, number>();
  readonly #limits: AnswerLimits;

  constructor(limits = ANSWER_LIMITS) {
    this.#limits = limits;
  }

  /** Dispose the result when the answer has ended. Undefined: the user or the workspace has too many. */
  open(userId: string, workspaceId: string): Disposable | undefined {
    const names = [`user ${userId}`, `workspace ${workspaceId}`] as const;
    const { perUser, perWorkspace } = this.#limits;
    if (this.#of(names[0]) >= perUser || this.#of(names[1]) >= perWorkspace) return undefined;
    for (const name of names) this.#open.set(name, this.#of(name) + 1);
    let hasEnded = false;
    return {
      [Symbol.dispose]: () => {
        if (hasEnded) return;
        hasEnded = true;
        for (const name of names) {
          if (this.#of(name) > 1) this.#open.set(name, this.#of(name) - 1);
          else this.#open.delete(name);
        }
      },
    };
  }

  #of(name: string): number {
    return this.#open.get(name) ?? 0;
  }
}
